internal import NIOCore
internal import SocketIO

/// Whose connection it is, and whether there may be one more.
struct ConnectionClient {
    private let connections: ConnectionRegistry
    private let socketAddress: SocketAddress?
    /// The client as a trusted proxy named it.
    private var forwarded: IPAddress?
    /// What the client's address uses; `nil` if that is not limited.
    private(set) var account: AddressAccount?
    /// False over a connection limit: the first request is answered 503.
    private(set) var isWithinLimits: Bool
    private let wasRefused: Bool

    init(_ connection: PeerHandler, _ socketAddress: SocketAddress?, _ connections: ConnectionRegistry) {
        self.connections = connections
        self.socketAddress = socketAddress
        self.account = connections.account(socketAddress)
        self.isWithinLimits = connections.add(connection, self.account)
        self.wasRefused = !self.isWithinLimits
    }

    /// The client's address: the socket's, or what a trusted proxy says.
    var address: SocketAddress? {
        guard let forwarded else { return self.socketAddress }
        return try? SocketAddress(packedIPAddress: ByteBuffer(bytes: forwarded.bytes), port: 0)
    }

    private var proxies: TrustedProxies { self.connections.loop.configuration.proxies }

    /// Whether the connection comes from a trusted proxy.
    var isProxied: Bool {
        self.proxies != .none && IPAddress(self.socketAddress).map(self.proxies.contains) ?? false
    }

    /// Whether a PROXY protocol header comes first.
    var sendsProxyHeader: Bool { self.proxies.source == .proxyProtocol && self.isProxied }

    /// A request arrived: a trusted proxy may have named another client.
    mutating func requestArrived(_ head: HTTPRequestHead) {
        guard self.isProxied, let client = self.proxies.client(of: head) else { return }
        self.identified(client)
    }

    /// The header before the first byte names the client, whose connection it is.
    /// - Returns: false when the client has opened too many lately.
    mutating func opened(by client: IPAddress) -> Bool {
        self.identified(client)
        return self.connections.opens(self.account)
    }

    private mutating func identified(_ client: IPAddress) {
        guard client != self.forwarded else { return }
        self.forwarded = client
        let account = self.connections.accounts.account(forwarded: client)
        let isWithinLimits = self.connections.move(from: self.account, to: account)
        self.account = account
        self.isWithinLimits = isWithinLimits && !self.wasRefused
    }

    func closed(_ connection: PeerHandler) {
        self.connections.remove(connection, self.account, wasRefused: self.wasRefused)
    }
}
