/// The timeouts of Engine.IO sessions, in nanoseconds; one object shared by all sessions.
public final class EngineTimings: Sendable {
    /// From the opening, or from a pong, to the next ping.
    public let pingInterval: UInt64
    /// The time limit for a pong after its ping.
    public let pingTimeout: UInt64
    /// From the arrival of the second transport to the end of the upgrade.
    public let upgradeTimeout: UInt64
    /// The time limits for the first namespace after the opening; `nil` for none.
    public let connect: ConnectTimeouts?
    /// From the probe to the noop that releases the held poll, and from each such noop to the next, as in the reference
    /// server.
    ///
    /// Not earlier: socket.io-client-swift changes transports as soon as its poll returns, even while its POST of CONNECT
    /// is in flight, and nearby clients would nearly always do so.
    public let noopInterval: UInt64 = 100_000_000
    /// How long after the change to WebSocket a POST is still accepted: the client may have sent it before it sent `5`,
    /// on another connection.
    public let latePostInterval: UInt64 = 1_000_000_000
    /// How long a closing polling session waits for the poll that fetches its last packets.
    public let closeTimeout: UInt64 = 5_000_000_000
    /// How much later a poll may arrive than the close packet that overtook it.
    public let latePollInterval: UInt64 = 50_000_000

    public init(pingInterval: UInt64, pingTimeout: UInt64, upgradeTimeout: UInt64, connect: ConnectTimeouts?) {
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
        self.upgradeTimeout = upgradeTimeout
        self.connect = connect
    }

    /// How long a session may do without a namespace, nanoseconds from its opening.
    public struct ConnectTimeouts: Sendable {
        /// Until the client asks for one. A peer that asks for nothing is no client.
        public let request: UInt64
        /// Until one is accepted. A client that was refused may try again until then: some would open one connection
        /// after the other otherwise.
        public let acceptance: UInt64

        public init(request: UInt64, acceptance: UInt64) {
            self.request = min(request, acceptance)
            self.acceptance = acceptance
        }
    }
}

/// The state of one Engine.IO 4 session: transports, upgrade, heartbeat, deadlines. Bytes and queues are kept
/// elsewhere.
///
/// ```
///            webSocketArrived            2probe                 5
///  polling ------------------> waiting ---------> probed ----------------> webSocket
///     ^                           |  upgradeTimeout, candidateLost |          |
///     +---------------------------+--------------------------------+          |
///  closeRequested: closing (polling until the last poll) --> closed <---------+
///  closeReceived:  leaving (polling until the next poll) --> closed
/// ```
/// Times are nanoseconds of any monotonic clock. A closed machine ignores every event.
public struct EngineMachine: Sendable {
    private enum Upgrade: UInt8 { case none, waiting, probed }
    private enum Phase: UInt8 { case open, leaving, closing, closed }

    /// The transport that carries messages now.
    public private(set) var transport: EngineTransport
    private var phase = Phase.open
    private var upgrade = Upgrade.none
    private var hasPoll = false
    private var hasPost = false
    private var isPonging = false
    /// The time of the next ping or, while `isPonging`, the deadline of the pong.
    private var heartbeatDeadline: UInt64
    private var upgradeDeadline = UInt64.max
    private var noopDeadline = UInt64.max
    private let openedAt: UInt64
    private var connectDeadline: UInt64
    /// Until when a POST is accepted after the change to WebSocket; 0 before it.
    private var latePostDeadline: UInt64 = 0
    private let timings: EngineTimings

    /// A session that opens at `now`.
    public init(transport: EngineTransport, timings: EngineTimings, at now: UInt64) {
        self.transport = transport
        self.timings = timings
        self.heartbeatDeadline = now &+ timings.pingInterval
        self.openedAt = now
        self.connectDeadline = timings.connect.map { now &+ $0.request } ?? .max
    }

    public var isClosed: Bool { self.phase != .open }

    /// When ``timeReached(_:)`` must be called next; `UInt64.max` for never.
    public var nextDeadline: UInt64 {
        if self.phase == .closed { return .max }
        let heartbeat = self.isPonging && self.upgrade != .none ? UInt64.max : self.heartbeatDeadline
        return min(min(heartbeat, self.upgradeDeadline), min(self.noopDeadline, self.connectDeadline))
    }

    public mutating func connectRequested() {
        guard self.phase == .open, self.connectDeadline < .max, let connect = self.timings.connect else { return }
        self.connectDeadline = self.openedAt &+ connect.acceptance
    }

    public mutating func connected() {
        self.connectDeadline = .max
    }
}

// MARK: - HTTP requests

extension EngineMachine {
    public enum PollAnswer: Sendable, Equatable {
        /// Keep it until there are packets.
        case hold
        /// Answer it with the queued packets.
        case packets
        /// Answer it with the queued packets; the session ends with it.
        case last
        /// Answer it with a noop; the session ends with it: the client's close packet overtook the poll.
        case farewell
        /// A second poll: end the session, answer both.
        case duplicate
        /// The session does not poll, or no longer: 400.
        case mismatch
    }

    /// A GET arrived; `hasPackets`: packets are queued; `exceedsBody`: they exceed one body.
    public mutating func pollReceived(hasPackets: Bool, exceedsBody: Bool = false) -> PollAnswer {
        guard self.phase != .closed, self.transport == .polling else { return .mismatch }
        if self.hasPoll { return .duplicate }
        switch self.phase {
        case .leaving:
            self.phase = .closed
            return .farewell
        case .closing:
            // Queued packets leave first, one body for each poll, until the close timeout of a closing session.
            if exceedsBody { return .packets }
            self.phase = .closed
            return .last
        case .open, .closed:
            if hasPackets { return .packets }
            self.hasPoll = true
            return .hold
        }
    }

    public mutating func pollAnswered() { self.hasPoll = false }

    public enum PostAnswer: Sendable, Equatable {
        case read
        /// A second POST: end the session, 400.
        case duplicate
        /// The session does not poll, or no longer: 400.
        case mismatch
    }

    /// The head of a POST arrived. Soon after the change to WebSocket it may be one that the change overtook; see
    /// ``EngineTimings/latePostInterval``.
    public mutating func postReceived(at now: UInt64) -> PostAnswer {
        guard self.phase == .open else { return .mismatch }
        if self.transport == .polling {
            if self.hasPost { return .duplicate }
        } else {
            guard !self.hasPost, now < self.latePostDeadline else { return .mismatch }
        }
        self.hasPost = true
        return .read
    }

    /// The body of the POST was read, or its connection was lost.
    public mutating func postEnded() { self.hasPost = false }
}

// MARK: - Upgrade

extension EngineMachine {
    /// A WebSocket with the id of this session arrived. `false`: it is one too many, close it and keep the session.
    public mutating func webSocketArrived(at now: UInt64) -> Bool {
        guard self.phase == .open, self.transport == .polling, self.upgrade == .none else { return false }
        self.upgrade = .waiting
        self.upgradeDeadline = now &+ self.timings.upgradeTimeout
        self.allowRequestAfterUpgrade()
        return true
    }

    /// Some clients ask for a namespace only after the upgrade, which may take long on a slow network.
    private mutating func allowRequestAfterUpgrade() {
        guard let connect = self.timings.connect, self.connectDeadline == self.openedAt &+ connect.request else {
            return
        }
        self.connectDeadline = min(
            self.openedAt &+ connect.acceptance, self.upgradeDeadline &+ connect.request)
    }

    public enum CandidateAnswer: Sendable, Equatable {
        /// Send `3probe` on it.
        case probe
        /// The candidate is the transport now: flush everything there; release the held poll with a noop if
        /// `releasePoll`.
        case adopt(releasePoll: Bool)
        case ignore
        /// Not the upgrade protocol: close the candidate, the session keeps polling.
        case drop
    }

    public mutating func candidateReceived(_ text: UnsafeRawBufferPointer, at now: UInt64) -> CandidateAnswer {
        guard self.phase == .open, self.upgrade != .none else { return .drop }
        if text.elementsEqual("2probe".utf8) {
            self.upgrade = .probed
            self.noopDeadline = now &+ self.timings.noopInterval
            return .probe
        }
        guard text.count == 1, let type = EnginePacketType(rawValue: text[0]) else { return .drop }
        switch type {
        case .upgrade where self.upgrade == .probed:
            self.transport = .webSocket
            self.latePostDeadline = now &+ self.timings.latePostInterval
            self.endUpgrade(at: now)
            defer { self.hasPoll = false }
            return .adopt(releasePoll: self.hasPoll)
        case .noop:
            return .ignore
        default:
            return .drop
        }
    }

    /// The candidate is gone; polling continues.
    public mutating func candidateLost(at now: UInt64) {
        guard self.upgrade != .none else { return }
        self.endUpgrade(at: now)
    }

    /// A client that probes delays its pongs until the upgrade is over, so the timeout starts over.
    private mutating func endUpgrade(at now: UInt64) {
        self.upgrade = .none
        self.upgradeDeadline = .max
        self.noopDeadline = .max
        if self.isPonging { self.heartbeatDeadline = now &+ self.timings.pingTimeout }
    }
}

// MARK: - Packets and time

extension EngineMachine {
    /// The meaning of a packet on the current transport.
    public enum PacketAnswer: Sendable, Equatable {
        case message
        case nothing
        case close
        case violation
    }

    public mutating func packetReceived(_ type: EnginePacketType, at now: @autoclosure () -> UInt64) -> PacketAnswer {
        guard self.phase == .open else { return .nothing }
        switch type {
        case .message: return .message
        case .pong:
            // A pong without a ping does not move the deadline.
            if self.isPonging {
                self.isPonging = false
                self.heartbeatDeadline = now() &+ self.timings.pingInterval
            }
            return .nothing
        case .close: return .close
        case .noop, .upgrade: return .nothing
        case .ping, .open: return .violation
        }
    }

    public struct Due: Sendable, Equatable {
        public var sendsPing = false
        /// Answer the held poll with a noop.
        public var releasesPoll = false
        /// The upgrade took too long: close the candidate.
        public var dropsCandidate = false
        public var expiry: Expiry?

        init() {}
    }

    public enum Expiry: Sendable, Equatable {
        case pingTimeout
        case connectTimeout
        /// The last packets of a closing session were not fetched in time.
        case closeTimeout
    }

    /// Handles timeouts; call it again at ``nextDeadline``.
    public mutating func timeReached(_ now: UInt64) -> Due {
        var due = Due()
        guard self.phase != .closed else { return due }
        if now >= self.connectDeadline {
            due.expiry = self.phase == .open ? .connectTimeout : .closeTimeout
        }
        if now >= self.upgradeDeadline {
            due.dropsCandidate = true
            self.endUpgrade(at: now)
        }
        if now >= self.noopDeadline {
            self.noopDeadline = now &+ self.timings.noopInterval
            due.releasesPoll = self.hasPoll
            self.hasPoll = false
        }
        if self.phase == .open, now >= self.heartbeatDeadline, !(self.isPonging && self.upgrade != .none) {
            if self.isPonging {
                due.expiry = due.expiry ?? .pingTimeout
            } else {
                self.isPonging = true
                // Relative to the due time, so that a late timer does not extend the timeout.
                self.heartbeatDeadline = self.heartbeatDeadline &+ self.timings.pingTimeout
                due.sendsPing = true
                if now >= self.heartbeatDeadline, self.upgrade == .none {
                    due.expiry = due.expiry ?? .pingTimeout
                    due.sendsPing = false
                }
            }
        }
        if due.expiry != nil { self.phase = .closed }
        return due
    }

    /// The server closes. `true`: immediately; `false`: a polling session waits for the poll that fetches its last packets.
    public mutating func closeRequested(at now: UInt64) -> Bool {
        guard self.phase == .open else { return self.phase == .closed }
        if self.transport == .polling, !self.hasPoll {
            self.phase = .closing
            self.endUpgrade(at: now)
            self.heartbeatDeadline = .max
            self.connectDeadline = now &+ self.timings.closeTimeout
            return false
        }
        self.phase = .closed
        return true
    }

    /// A polling client sent a close packet while no poll was held. The packet may have overtaken a poll (they use two
    /// connections), so one that arrives soon is still answered; see ``EngineTimings/latePollInterval``.
    public mutating func closeReceived(at now: UInt64) {
        guard self.phase == .open else { return }
        self.phase = .leaving
        self.upgrade = .none
        self.upgradeDeadline = .max
        self.noopDeadline = .max
        self.heartbeatDeadline = .max
        self.connectDeadline = now &+ self.timings.latePollInterval
    }

    public mutating func ended() { self.phase = .closed }
}
