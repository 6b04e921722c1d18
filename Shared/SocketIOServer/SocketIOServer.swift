internal import Glibc
public import NIOCore
internal import NIOPosix
internal import SocketIO

/// A server for Socket.IO 5 over Engine.IO 4, bare Engine.IO, bare WebSockets and plain HTTP on one port.
///
/// Everything runs on one event loop: callbacks are synchronous there, and every method must be called there unless
/// documented otherwise. Sends are only queued; each connection is flushed once when a read is processed, when
/// ``flush()`` is called, or in the next turn of the loop.
///
/// Marked Sendable although it is confined to its loop, so that other threads can retain it and call
/// `eventLoop.execute { server.… }`.
public final class SocketIOServer: @unchecked Sendable {
    private let loop: ServerLoop
    let sessions: SessionRegistry
    let connections: ConnectionRegistry
    private let memory: MemoryGuard
    private let router: RequestRouter
    private var listeners: [any Channel] = []

    /// A server that is not listening yet. May be called from any thread; the applications belong to the loop from here
    /// on.
    /// - Parameter flushes: the queue of its connections, if it is also used elsewhere; on the same loop.
    public init(
        eventLoop: any EventLoop, configuration: Configuration = Configuration(), routes: [Route],
        http: (any HTTPApplication)? = nil, flushes: FlushQueue? = nil
    ) {
        self.loop = ServerLoop(eventLoop, configuration, flushes ?? FlushQueue(eventLoop: eventLoop))
        self.sessions = SessionRegistry(self.loop)
        self.connections = ConnectionRegistry(self.loop, AddressAccounts(self.loop))
        self.memory = MemoryGuard(self.loop, self.connections, self.sessions)
        self.router = RequestRouter(
            self.loop, RouteTable(routes, configuration), self.sessions, fallback: http)
    }

    public var eventLoop: any EventLoop { self.loop.eventLoop }
    public var configuration: Configuration { self.loop.configuration }
    public var statistics: Statistics { self.loop.statistics }
    public var connectionCount: Int { self.connections.count }
    public var sessionCount: Int { self.sessions.count }
    /// Bytes that connections and sessions held when they were last counted, with what the applications kept for them.
    public var heldBytes: Int { self.memory.heldBytes }
    /// Client addresses with connections, sessions, or something owed.
    public var addressCount: Int { self.connections.accounts.count }
    public var hasPollingSessions: Bool { self.sessions.all.contains { $0.transport == .polling } }

    /// Presents another certificate to connections from here on. Has no effect on a server that was configured without
    /// one.
    public func present(_ identity: TLSIdentity) {
        if self.loop.identity != nil { self.loop.identity = identity }
    }

    // MARK: Flushing

    /// Flushes every connection with unflushed sends, once.
    public func flush() { self.loop.flushes.flush() }

    /// Runs `body`, which sends to many connections, and flushes once.
    public func flushing(_ body: () -> Void) { self.loop.flushes.flushing(body) }
}

// MARK: - Listening

extension SocketIOServer {
    /// Listens on a TCP port (0: any free one) and returns the address. May be called from any thread, several times.
    public func start(host: String, port: Int) async throws -> SocketAddress {
        try await self.bind(host: host, port: port).get()
    }

    /// Listens on several addresses of this machine under one port, and returns the address of the first. Addresses behind
    /// the first that the machine does not have are left out, as `::1` is where there is no IPv6. May be called from any
    /// thread.
    /// - Parameter port: 0 for any that is free on all of them.
    public func start(hosts: [String], port: Int) async throws -> SocketAddress {
        precondition(!hosts.isEmpty, "a host")
        var attempts = Self.portAttempts
        while true {
            let first = try await self.start(host: hosts[0], port: port)
            do {
                for host in hosts.dropFirst() { try await self.startIfPresent(host: host, port: first.port ?? port) }
                return first
            } catch let error as IOError where error.errnoCode == EADDRINUSE && port == 0 && attempts > 1 {
                // Somebody has the port on another address: another port.
                attempts -= 1
                try await self.eventLoop.flatSubmit { self.stopListening() }.get()
            }
        }
    }

    /// How many ports are tried that are free on the first address.
    private static let portAttempts = 16

    private func startIfPresent(host: String, port: Int) async throws {
        do {
            _ = try await self.start(host: host, port: port)
        } catch let error as IOError where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode) {}
    }

    /// TCP_NOTSENT_LOWAT of Linux, which no module exports.
    private static let unsentLowWater = ChannelOptions.Types.SocketOption(
        level: .tcp, name: NIOBSDSocket.Option(rawValue: 25))

    public func bind(host: String, port: Int) -> EventLoopFuture<SocketAddress> {
        let configuration = self.configuration
        var bootstrap = ServerBootstrap(group: self.eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: Int32(clamping: configuration.backlog))
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptGate(self.connections))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Finds dead peers of bare WebSockets, which have no heartbeat of their own.
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // Bytes that the kernel has accepted can no longer be replaced by newer ones, so it accepts only little
            // ahead.
            .childChannelOption(Self.unsentLowWater, value: .init(clamping: configuration.writeHighWater))
            .childChannelOption(.recvAllocator, value: GrowingReadBuffer())
            .childChannelOption(
                .writeBufferWaterMark,
                value: .init(low: configuration.writeLowWater, high: configuration.writeHighWater)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PeerHandler(self.connections, self.router))
                }
            }
        if configuration.tls != nil { bootstrap = bootstrap.readingLittle() }
        return bootstrap.bind(host: host, port: port)
            .flatMapThrowing { channel in
                guard let address = channel.localAddress else { throw ChannelError.unknownLocalAddress }
                self.listeners.append(channel)
                self.memory.start()
                return address
            }
    }
}

// MARK: - Stopping

extension SocketIOServer {
    /// Refuses new sessions with 503. Existing ones continue, and polling ones remain reachable; HTTP responses close
    /// their connection.
    public func refuseSessions() { self.loop.isDraining = true }

    /// Refuses new sessions and stops listening: polling sessions end with that.
    public func stopAccepting() -> EventLoopFuture<Void> {
        self.refuseSessions()
        return self.stopListening()
    }

    private func stopListening() -> EventLoopFuture<Void> {
        let closing = self.listeners.map { $0.close() }
        self.listeners = []
        return EventLoopFuture.andAllComplete(closing, on: self.eventLoop)
    }

    /// Closes up to `count` sessions (WebSocket code 1001, polling 400), so that their clients reconnect elsewhere; the
    /// caller paces it. Returns how many are left, including polling sessions that have not fetched their last packets.
    public func drain(upTo count: Int) -> Int {
        let closing = Array(self.sessions.all.lazy.filter { !$0.isClosed }.prefix(max(0, count)))
        for session in closing { session.end(.goingAway) }
        self.flush()
        return self.sessions.all.count { !$0.isClosed || $0.hasPackets }
    }

    /// Drops every connection immediately, without close frames. Stop and drain first.
    public func closeAll() {
        for session in self.sessions.all { session.end(.goingAway) }
        self.flush()
        for connection in self.connections.all { connection.drop() }
        self.memory.stop()
        self.loop.timers.cancel()
    }
}

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
