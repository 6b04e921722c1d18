internal import JSONBytes

/// The server side of the opening handshake of RFC 6455 section 4.2.
public enum WebSocketHandshake {
    public enum Answer: Sendable, Equatable {
        /// 101 with the `Sec-WebSocket-Accept` of this `Sec-WebSocket-Key`.
        case accept(key: [UInt8])
        /// 426 with `Sec-WebSocket-Version: 13`.
        case wrongVersion
        /// 400.
        case malformed
    }

    public static func isAsked(by head: HTTPRequestHead) -> Bool {
        head.header("upgrade", lists: "websocket")
    }

    /// Validates a request for a WebSocket. Extensions (permessage-deflate) and subprotocols are never selected, so
    /// offers are ignored.
    public static func answer(to head: HTTPRequestHead) -> Answer {
        guard head.isMethod("GET"), head.isHTTP11, !head.hasBody, head.header("connection", lists: "upgrade"),
            Self.isAsked(by: head)
        else { return .malformed }
        guard head.headerCount("sec-websocket-version") == 1, head.header("sec-websocket-version") == "13" else {
            return .wrongVersion
        }
        guard head.headerCount("sec-websocket-key") == 1, let key = head.headerBytes("sec-websocket-key"),
            Self.isNonce(key)
        else { return .malformed }
        return .accept(key: Array(key))
    }

    private static func isNonce(_ key: ArraySlice<UInt8>) -> Bool {
        guard key.count == 24 else { return false }
        return key.withUnsafeBytes { Base64.decode($0) }?.count == 16
    }
}
