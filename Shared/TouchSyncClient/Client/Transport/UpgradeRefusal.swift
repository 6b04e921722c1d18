import JSONBytes
import TouchSyncClientCore

extension TransportError {
    /// Why a server that answers by HTTP opened no WebSocket.
    /// - Parameters:
    ///   - status: HTTP's status code.
    ///   - body: the content; nil where the platform does not tell it.
    init(status: Int, body: [UInt8]?) {
        let refusal = body.flatMap { JSONValue(clientText: $0) }
        // Engine.IO refuses with a number and a message.
        if let number = refusal?["code"]?.integer, let message = refusal?["message"]?.string {
            self.init(Self.code(ofEngineError: number), "The server answered with status \(status): \(message)")
            return
        }
        switch status {
        case 403 where body == nil: self.init(.origin, "The server answered with status 403.")
        case 401, 403, 407, 429, 500...: self.init(.refused, "The server refused a WebSocket with status \(status).")
        default: self.init(.notTouchSync, "The server did not open a WebSocket but answered with status \(status).")
        }
    }

    private static func code(ofEngineError number: Int64) -> ConnectionFailure.Code {
        switch number {
        case 4: .origin
        case 5: .version
        default: .refused
        }
    }
}
