internal import SocketIO

/// The consumer of a session's messages: a Socket.IO layer, or an application on bare Engine.IO.
enum SessionApplication {
    case socketIO(SocketIOLayer)
    case engineIO(any EngineIOApplication)

    var layer: SocketIOLayer? { if case .socketIO(let layer) = self { layer } else { nil } }

    func opened(_ session: EngineIOSession) {
        if case .engineIO(let application) = self { application.opened(session) }
    }

    func received(_ text: UnsafeRawBufferPointer, _ session: EngineIOSession) {
        switch self {
        case .socketIO(let layer): layer.received(text)
        case .engineIO(let application): application.text(session, text)
        }
    }

    func received(binary: [UInt8], _ session: EngineIOSession) {
        switch self {
        case .socketIO(let layer): layer.received(binary: binary)
        case .engineIO(let application): application.binary(session, binary)
        }
    }

    func becameWritable() {
        if case .socketIO(let layer) = self { layer.notifyWritable() }
    }

    func closed(_ session: EngineIOSession, _ why: DisconnectReason) {
        switch self {
        case .socketIO(let layer): layer.end(why)
        case .engineIO(let application): application.closed(session, reason: why)
        }
    }
}
