extension SocketIOServer {
    /// Counters since the start; monotonic.
    public struct Statistics: Sendable, Equatable {
        public var connections: UInt64 = 0
        public var refusedConnections: UInt64 = 0
        /// Sessions that a limit or the memory budget did not allow.
        public var refusedSessions: UInt64 = 0
        /// Times that a connection was left unread because it had sent too much.
        public var pausedReads: UInt64 = 0
        /// Connections and sessions closed because the memory budget was exceeded.
        public var shedConnections: UInt64 = 0
        public var tlsHandshakes: UInt64 = 0
        /// Connections that ended before their TLS handshake was complete.
        public var tlsFailures: UInt64 = 0
        public var requests: UInt64 = 0
        /// HTTP requests or handshakes that the server answered with an error.
        public var badRequests: UInt64 = 0
        public var sessions: UInt64 = 0
        /// Upgrades from polling to WebSocket that were completed.
        public var upgrades: UInt64 = 0
        /// Socket.IO packets (or bare messages) received and sent.
        public var packetsIn: UInt64 = 0
        public var packetsOut: UInt64 = 0
        /// Acks, for which nobody asked, and packets for namespaces already left.
        public var strayPackets: UInt64 = 0
        /// Packets that counted against the budget.
        public var badPackets: UInt64 = 0
        /// Sessions ended by the server because the client violated a protocol.
        public var protocolErrors: UInt64 = 0
        public var pingTimeouts: UInt64 = 0
        public var connectTimeouts: UInt64 = 0
        public var slowReaders: UInt64 = 0
        /// Requests for sessions whose ids begin with the name of another server.
        public var foreignSessions: UInt64 = 0

        public init() {}
    }
}
