public import SocketIO
public import Timing

extension SocketIOServer {
    /// The limits and timeouts of the server; the defaults are those of the Socket.IO reference server, with limits
    /// added where that has none.
    public struct Configuration: Sendable {
        /// From a pong (or the opening) to the next ping. Must be greater than zero: clients divide by it.
        public var pingInterval: Duration = .seconds(25)
        /// The time limit for a pong after its ping.
        public var pingTimeout: Duration = .seconds(20)
        /// The time limit for an upgrade to WebSocket.
        public var upgradeTimeout: Duration = .seconds(10)
        /// From the opening of a session to its first CONNECT.
        public var connectRequestTimeout: Duration = .seconds(5)
        /// From the opening of a session to its first accepted namespace.
        public var connectTimeout: Duration = .seconds(45)
        /// From the TCP connect, or the first byte of a later request, to the end of the request head; a TLS handshake
        /// included.
        public var handshakeTimeout: Duration = .seconds(5)
        /// From the end of a head to the end of its body.
        public var requestTimeout: Duration = .seconds(30)
        /// How long an HTTP connection may idle between requests.
        public var keepAliveTimeout: Duration = .seconds(75)
        /// How long a closed WebSocket waits for the peer to close its side.
        public var closeTimeout: Duration = .seconds(2)

        /// The maximum size of one WebSocket message or one packet of a POST, bytes.
        public var maxPayload = 1_000_000
        /// The maximum size of a POST, bytes: four of the largest packets. Clients that know nothing of
        /// ``maxPayload``, such as socket.io-client-swift, send everything that waits in one.
        var maxPostBody: Int { 4 * self.maxPayload }
        /// The maximum number of frames in one WebSocket message.
        public var maxFragments = 16
        /// The maximum number of binary attachments in one packet; 0 closes the connection with 1003 when binary is
        /// sent.
        public var maxAttachments = 10
        /// The maximum size of one binary packet with its attachments, bytes.
        public var maxBinaryPacket = 10_000_000
        /// The maximum size of the auth payload of a CONNECT packet, bytes: it is parsed before anything is known of the
        /// client.
        public var maxAuthPayload = 16_384
        /// The maximum number of namespaces of one connection.
        public var maxNamespaces = 8
        /// The maximum number of packets in one polling response; python-engineio drops more than 16.
        public var maxPollPackets = 16

        /// The maximum number of packets in one POST; python-engineio, which refuses more than 16, is stricter.
        public var maxPostPackets = 4096

        public var http = HTTPLimits()
        /// The web origins that may connect; also determines the CORS headers.
        public var origins = OriginPolicy.only([])

        /// The maximum number of TCP connections; further ones are answered 503.
        public var maxConnections = 10_000
        /// TCP connections from one address (IPv6: from one /64), and as many sessions; direct connections from loopback
        /// are not counted.
        public var maxConnectionsPerAddress = 64
        /// How often one address may connect; more connections are closed immediately.
        public var addressOpenings = RateMeter(perSecond: 20, burst: 64)
        /// No more connections are accepted than these, whatever else is allowed: the process has no more descriptors.
        public var maxDescriptors = Int.max
        /// What one connection may send before it is left unread for a while.
        public var connectionReads = ReadMeter(bytesPerSecond: 2 << 20, messagesPerSecond: 2000)
        /// The same for all connections of one address.
        public var addressReads = ReadMeter(bytesPerSecond: 4 << 20, messagesPerSecond: 8000)
        /// The maximum number of bytes for all connections and sessions: output, unprocessed input, requests,
        /// handshakes, and what applications keep (``SocketIOApplication/heldBytes(of:)``). Above it the largest are closed
        /// of the client that holds most (``SocketIOApplication/owner(of:)``).
        public var memoryBudget = 512 << 20
        /// The proxies that may name other clients.
        public var proxies = TrustedProxies.none
        /// The maximum number of bytes queued for one connection, which is then closed with 4008. A packet that waits for a
        /// poll counts for more than its bytes.
        public var maxBufferedBytes = 1 << 20
        /// A socket with more queued bytes is not writable, …
        public var writeHighWater = 65_536
        /// … until there are fewer than this.
        public var writeLowWater = 16_384
        /// Bad packets per minute before the connection is closed with 1008.
        public var badPacketBudget = 10
        /// WebSocket pings answered in a burst; after that ten a second, and the last one of those received together. A
        /// hundred more than these rates close with 1008.
        public var pongBurst = 20

        /// The certificate for TLS; `nil` for plain text. ``SocketIOServer/present(_:)`` replaces it.
        public var tls: TLSIdentity?

        /// The server's name, with which the ids of its sessions begin (``SessionID``), so that a proxy finds the server
        /// that a request is for. 1 to 64 letters, digits, dots, dashes and underscores; empty for a single server.
        public var name = ""
        public var backlog = 4096

        public init() {}
    }
}

extension Duration {
    /// Nanoseconds, clamped to 0 to 292 years.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = self.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(min(seconds, 9_000_000_000)) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
    }

    var milliseconds: UInt64 { self.nanoseconds / 1_000_000 }
}
