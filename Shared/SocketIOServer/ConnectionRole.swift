internal import SocketIO

/// What a TCP connection is used for at the moment: HTTP first, perhaps a WebSocket later.
///
/// ```
///                      request, answer                    101
///  proxyHeader --> http <-------------> http --------------------> webSocket
///    [-> handshake]  |                                               |
///                    +--- answer with close, error ---> lingering <--+ close ---> closed
/// ```
enum ConnectionRole {
    case proxyHeader(ProxyHeaderReader, HTTPExchange)
    /// The TLS handshake has begun: handlers before the connection's own read and answer it.
    case handshake(HTTPExchange)
    case http(HTTPExchange)
    case webSocket(WebSocketLink)
    /// Closing: up to this many bytes are read and ignored, and a deadline ends it.
    case lingering(Int)
    case closed

    /// The HTTP side, while it reads requests or answers them.
    var exchange: HTTPExchange? { if case .http(let exchange) = self { exchange } else { nil } }

    /// Whether what was sent leaves room for more to read: not for a bare WebSocket that does not read its output. A
    /// session's output is bounded by ``SocketIOServer/Configuration/maxBufferedBytes``, because its pongs and events
    /// must get through.
    var mayRead: Bool { if case .webSocket(let link) = self { link.mayRead } else { true } }

    /// Bytes that are kept to read on: the parts of a request or message, or what a handshake needs.
    var heldBytes: Int {
        switch self {
        case .http(let exchange): exchange.heldBytes
        case .webSocket(let link): link.heldBytes
        case .handshake: TLSIdentity.handshakeBytes
        case .proxyHeader, .lingering, .closed: 0
        }
    }
}
