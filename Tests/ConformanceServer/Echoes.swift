import SocketIO
import SocketIOServer

/// Sends every Engine.IO message back.
final class EngineEcho: EngineIOApplication {
    func text(_ session: EngineIOSession, _ message: UnsafeRawBufferPointer) { session.send(text: message) }
    func binary(_ session: EngineIOSession, _ message: [UInt8]) { session.send(binary: message) }
}

/// Sends every WebSocket message back.
final class WebSocketEcho: WebSocketApplication {
    func message(_ peer: WebSocketPeer, _ message: UnsafeRawBufferPointer, isText: Bool) {
        peer.send(message, isText: isText)
    }
}
