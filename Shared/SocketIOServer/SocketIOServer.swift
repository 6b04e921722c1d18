public import NIOCore
internal import NIOPosix
public import SocketIO

/// A server for Socket.IO 5 over Engine.IO 4, bare Engine.IO, bare WebSockets and plain HTTP on one port.
///
/// Everything happens on one event loop: callbacks are synchronous there, and every method must be called there unless
/// it says otherwise. Sends are only queued; what was touched is flushed once when the bytes of a read are dealt with,
/// when ``flush()`` is called, or a moment later by itself.
///
/// Marked Sendable although it is confined to its loop, so that other threads can hold it and call
/// `eventLoop.execute { server.… }`.
public final class SocketIOServer: @unchecked Sendable {
    /// What is served at a path. Paths match with and without a trailing slash.
    public struct Route {
        enum Kind {
            case socketIO(any SocketIOApplication)
            case engineIO(any EngineIOApplication)
            case webSocket(any WebSocketApplication, WebSocketLimits)
        }

        let path: [UInt8]
        let kind: Kind

        private init(_ path: String, _ kind: Kind) {
            var bytes = Array(path.utf8)
            while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
            self.path = bytes
            self.kind = kind
        }

        /// A Socket.IO endpoint.
        public static func socketIO(path: String = "/socket.io/", _ application: any SocketIOApplication) -> Route {
            Route(path, .socketIO(application))
        }

        /// A bare Engine.IO endpoint.
        public static func engineIO(path: String, _ application: any EngineIOApplication) -> Route {
            Route(path, .engineIO(application))
        }

        /// A bare WebSocket endpoint with limits of its own.
        public static func webSocket(
            path: String, _ application: any WebSocketApplication, limits: WebSocketLimits
        ) -> Route {
            Route(path, .webSocket(application, limits))
        }
    }

    /// The loop that everything happens on.
    public let eventLoop: any EventLoop
    /// What the server was started with.
    public let configuration: Configuration
    let routes: [Route]
    let http: (any HTTPApplication)?
    let timings: EngineTimings
    let bareTimings: EngineTimings
    let sidPrefix: [UInt8]
    var generator = SystemRandomNumberGenerator()

    /// Counters since the start.
    public internal(set) var statistics = Statistics()
    var sessions: [EngineID: EngineIOSession] = [:]
    var peers: [ObjectIdentifier: PeerHandler] = [:]
    var peersByAddress: [AddressKey: Int] = [:]
    var listeners: [any Channel] = []
    private(set) lazy var relays = Relays(self)
    /// Set by ``refuseSessions()``: nothing new is let in, answers close their connection.
    var isDraining = false

    var wheel: TimerWheel<any Timed>
    var dueTimers: [(token: any Timed, tick: UInt64)] = []
    var wheelTask: (time: UInt64, task: Scheduled<Void>)?

    /// Bytes of the message that is being read; lent to one handler at a time.
    private var scratch: [UInt8] = []
    /// Small packets are encoded here one after another and written as one buffer; it belongs to one peer at a time.
    var outbox: ByteBuffer
    var outboxOwner: PeerHandler?
    /// Storage to copy what a connection gets in one write together.
    var gathering = ByteBuffer()
    var dirtyPeers: [PeerHandler] = []
    var dirtySessions: [EngineIOSession] = []
    /// Sessions to close as slow readers, once nobody is in the middle of a send.
    var doomed: [EngineIOSession] = []
    var isReading = false
    var isFlushScheduled = false

    /// A server that is not listening yet. May be called from any thread; the applications belong to the loop from
    /// here on.
    public init(
        eventLoop: any EventLoop, configuration: Configuration = Configuration(), routes: [Route],
        http: (any HTTPApplication)? = nil
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.routes = routes
        self.http = http
        self.sidPrefix = Array(configuration.sidPrefix.utf8)
        let timings = { (connectTimeout: UInt64?) in
            EngineTimings(
                pingInterval: max(1_000_000, configuration.pingInterval.nanoseconds),
                pingTimeout: configuration.pingTimeout.nanoseconds,
                upgradeTimeout: configuration.upgradeTimeout.nanoseconds, connectTimeout: connectTimeout)
        }
        self.timings = timings(configuration.connectTimeout.nanoseconds)
        self.bareTimings = timings(nil)
        self.wheel = TimerWheel(now: NIODeadline.now().uptimeNanoseconds)
        self.outbox = ByteBufferAllocator().buffer(capacity: 4096)
    }

    /// Open TCP connections.
    public var connectionCount: Int { self.peers.count }
    /// Open Engine.IO sessions.
    public var sessionCount: Int { self.sessions.count }
    /// Relays to neighbours under way: requests without their whole answer, and WebSockets.
    public var relayCount: Int { self.relays.openCount }

    /// Nanoseconds of the steady clock that all deadlines use.
    var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    func takeScratch() -> [UInt8] {
        var scratch: [UInt8] = []
        swap(&scratch, &self.scratch)
        return scratch
    }

    func giveBack(scratch: consuming [UInt8]) {
        if scratch.capacity <= 1 << 16 { self.scratch = scratch }
    }

    func drawID() -> EngineID {
        EngineID(using: &self.generator)
    }

    func sidText(_ id: EngineID) -> [UInt8] { self.sidPrefix + id.text }

    func session(named text: [UInt8]) -> EngineIOSession? {
        guard text.starts(with: self.sidPrefix), let id = EngineID(text.dropFirst(self.sidPrefix.count)) else {
            return nil
        }
        return self.sessions[id]
    }
}

// MARK: - Listening

extension SocketIOServer {
    /// Listens on a TCP port (0: any free one) and returns the address. May be called from any thread, several times.
    public func start(host: String, port: Int) async throws -> SocketAddress {
        try await self.bind(host: host, port: port).get()
    }

    /// TCP_NOTSENT_LOWAT of Linux, which no module exports.
    private static let unsentLowWater = ChannelOptions.Types.SocketOption(
        level: .tcp, name: NIOBSDSocket.Option(rawValue: 25))

    /// Listens on a TCP port; see ``start(host:port:)``.
    public func bind(host: String, port: Int) -> EventLoopFuture<SocketAddress> {
        let configuration = self.configuration
        return ServerBootstrap(group: self.eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: Int32(clamping: configuration.backlog))
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Finds dead peers of bare WebSockets, which have no heartbeat of their own.
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // What the kernel has taken cannot be replaced by something newer any more, so it takes little ahead.
            .childChannelOption(Self.unsentLowWater, value: .init(clamping: configuration.writeHighWater))
            .childChannelOption(.recvAllocator, value: GrowingReadBuffer())
            .childChannelOption(
                .writeBufferWaterMark,
                value: .init(low: configuration.writeLowWater, high: configuration.writeHighWater)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PeerHandler(self, channel))
                }
            }
            .bind(host: host, port: port)
            .flatMapThrowing { channel in
                guard let address = channel.localAddress else { throw ChannelError.unknownLocalAddress }
                self.listeners.append(channel)
                return address
            }
    }

    /// Lets no new session in: 503. Existing ones live on, and those that poll can still be reached, also by relays; HTTP
    /// answers close their connection.
    public func refuseSessions() {
        self.isDraining = true
    }

    /// True while some session polls.
    public var hasPollingSessions: Bool { self.sessions.values.contains(where: \.polls) }

    /// The same, and stops listening: sessions that poll end with that.
    public func stopAccepting() -> EventLoopFuture<Void> {
        self.refuseSessions()
        let closing = self.listeners.map { $0.close() }
        self.listeners = []
        return EventLoopFuture.andAllComplete(closing, on: self.eventLoop)
    }

    /// Closes up to `count` sessions (WebSocket code 1001, polling 400) and relays, so that their clients reconnect
    /// elsewhere; the caller paces it. Returns how many of both are left, polling sessions that have not fetched their
    /// last packets included.
    public func drain(upTo count: Int) -> Int {
        let closing = Array(self.sessions.values.lazy.filter { !$0.isClosed }.prefix(max(0, count)))
        for session in closing { session.end(.drained, code: 1001, reason: "going away") }
        let relaying = self.peers.values.filter(\.isRelaying)
        let ending = relaying.prefix(max(0, count - closing.count))
        for peer in ending { peer.endRelay() }
        self.flush()
        return self.sessions.values.count { !$0.isClosed || $0.hasPackets } + relaying.count - ending.count
    }

    /// Drops every connection at once, without goodbyes. Stop and drain first.
    public func closeAll() {
        for session in Array(self.sessions.values) { session.end(.drained, code: 1001, reason: "going away") }
        self.flush()
        for peer in Array(self.peers.values) { peer.drop() }
        self.relays.closeAll()
        self.wheelTask?.task.cancel()
        self.wheelTask = nil
    }
}

// MARK: - Flushing

extension SocketIOServer {
    /// Flushes every connection that something was queued for, once.
    public func flush() {
        var peers: [PeerHandler] = []
        var rounds = 0
        // Callbacks may queue more while this runs; what a second round leaves waits for the scheduled one.
        while rounds < 2, !(self.dirtySessions.isEmpty && self.dirtyPeers.isEmpty && self.doomed.isEmpty) {
            rounds += 1
            if !self.dirtySessions.isEmpty {
                var sessions: [EngineIOSession] = []
                swap(&sessions, &self.dirtySessions)
                for session in sessions { session.flushPolling() }
            }
            swap(&peers, &self.dirtyPeers)
            for peer in peers { peer.flushNow() }
            peers.removeAll(keepingCapacity: true)
            if self.dirtyPeers.isEmpty { swap(&peers, &self.dirtyPeers) }
            self.closeDoomed()
        }
        if !(self.dirtySessions.isEmpty && self.dirtyPeers.isEmpty) { self.scheduleFlush() }
    }

    /// Runs `body`, which sends to many, and flushes once.
    public func flushing(_ body: () -> Void) {
        let wasReading = self.isReading
        self.isReading = true
        body()
        self.isReading = wasReading
        self.flush()
    }

    private func closeDoomed() {
        guard !self.doomed.isEmpty else { return }
        var doomed: [EngineIOSession] = []
        swap(&doomed, &self.doomed)
        for session in doomed {
            self.statistics.slowReaders += 1
            session.end(.slowReader, code: 4008, reason: "slow reader")
        }
    }

    /// Sees to it that a flush comes without one being asked for.
    func scheduleFlush() {
        guard !self.isReading, !self.isFlushScheduled else { return }
        self.isFlushScheduled = true
        self.eventLoop.execute {
            self.isFlushScheduled = false
            self.flush()
        }
    }

    /// Makes the outbox belong to `peer`.
    /// - Returns: false when another one has something in it.
    func claimOutbox(_ peer: PeerHandler) -> Bool {
        if let owner = self.outboxOwner { return owner === peer }
        if self.outbox.capacity > 1 << 16 {
            self.outbox = ByteBufferAllocator().buffer(capacity: 4096)
        } else {
            self.outbox.clear()
        }
        self.outboxOwner = peer
        return true
    }
}
