/// The meaning of an HTTP request to an Engine.IO path.
public enum EngineRequest: Sendable, Equatable {
    case open(EngineTransport)
    /// A poll, a POST or (with `.webSocket`) an upgrade of the session with this id.
    case session(sid: [UInt8], EngineTransport)

    /// Classifies a request, with the checks of the reference server in their order.
    public init(_ head: HTTPRequestHead) throws(EngineError) {
        let transport: EngineTransport
        switch head.queryValue("transport") {
        case "polling": transport = .polling
        case "websocket": transport = .webSocket
        default: throw .unknownTransport
        }
        guard (transport == .webSocket) == WebSocketHandshake.isAsked(by: head) else { throw .badRequest }
        if let sid = head.queryValueBytes("sid") {
            self = .session(sid: sid, transport)
            return
        }
        guard head.isMethod("GET") else { throw .badHandshakeMethod }
        guard head.queryValue("EIO") == "4" else { throw .unsupportedVersion }
        self = .open(transport)
    }
}
