internal import SocketIO

/// What a TCP connection is used for at the moment: HTTP first, perhaps a WebSocket later.
///
/// ```
///                      request, answer                    101
///  proxyHeader --> http <-------------> http --------------------> webSocket | spliced
///    [-> handshake]  |                                                    |
///                    +--- answer with close, error ---> lingering <- close + ---> closed
/// ```
enum ConnectionRole {
    /// Reading the header of a trusted proxy.
    case proxyHeader(ProxyHeaderReader, HTTPExchange)
    /// The TLS handshake has begun: handlers before the connection's own read and answer it.
    case handshake(HTTPExchange)
    case http(HTTPExchange)
    case webSocket(WebSocketLink)
    /// A WebSocket of a session that a neighbour owns.
    case spliced(RelayLink)
    /// Closing: up to this many bytes are read and ignored, and a deadline ends it.
    case lingering(Int)
    case closed

    /// The HTTP side, while it reads requests or answers them.
    var exchange: HTTPExchange? { if case .http(let exchange) = self { exchange } else { nil } }

    /// Whether what was sent leaves room for more to read: not for a bare WebSocket that does not read its output, nor
    /// for a relayed one while the owner's link is not writable. A session's output is bounded by
    /// ``SocketIOServer/Configuration/maxBufferedBytes``, because its pongs and events must get through.
    var mayRead: Bool {
        switch self {
        case .webSocket(let link): link.mayRead
        case .spliced(let link): link.isWritable
        case .proxyHeader, .handshake, .http, .lingering, .closed: true
        }
    }

    /// Whether a relay is in progress.
    var isRelaying: Bool {
        switch self {
        case .http(let exchange): exchange.relayLink != nil
        case .spliced: true
        case .proxyHeader, .handshake, .webSocket, .lingering, .closed: false
        }
    }

    /// Bytes that are kept to read on: the parts of a request or message, or what a handshake needs.
    var heldBytes: Int {
        switch self {
        case .http(let exchange): exchange.heldBytes
        case .webSocket(let link): link.heldBytes
        case .handshake: TransportSecurity.handshakeBytes
        case .proxyHeader, .spliced, .lingering, .closed: 0
        }
    }
}
