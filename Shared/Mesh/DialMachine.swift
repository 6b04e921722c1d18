package import Timing

/// The life of a dialled link. Jitter comes in as a random number.
///
/// ```
///             due: open         handshakeSucceeded          helloReceived
///   waiting ────────────▶ dialling ────────────▶ greeting ────────────▶ up
///      ▲                                            │                   │
///      └───────────── lost(reason): back-off ───────┴───────────────────┘        closed: from anywhere, terminal
/// ```
/// While dialling libzmq tries again by itself; there is nothing to time.
package struct DialMachine: Equatable {
    private enum State: Equatable {
        case waiting(until: Instant)
        case dialling
        case greeting(until: Instant)
        case up(LivenessMachine, since: Instant)
        case closed
    }

    /// What `due` asks for.
    package enum Due: Equatable {
        case nothing
        /// Open a fresh socket.
        case open
        /// Send a beat, then call `sent`.
        case beat
        /// Read what has arrived, then call `lost(.silent)` unless something was heard.
        case silent
        /// Call `lost` with this reason.
        case lose(LinkLoss)
    }

    /// What follows from a finished handshake of libzmq.
    package enum HandshakeAction: Equatable {
        case ignore
        /// Send our hello.
        case greet
    }

    /// What follows from the peer's hello.
    package enum HelloAction: Equatable {
        case ignore
        /// Tell the user that the link is up.
        case reportUp
    }

    /// What follows from a loss.
    package enum LossAction: Equatable {
        case ignore
        /// Close the socket at once and drop what it holds.
        case close
        /// The same, and tell the user.
        case closeAndReport(LinkLoss)
    }

    private var state: State
    private var losses = 0
    private let settings: LivenessSettings

    /// A machine that is due to open at once.
    package init(_ settings: LivenessSettings, now: Instant) {
        self.settings = settings
        self.state = .waiting(until: now)
    }

    /// Greeted: data may be sent.
    package var isUp: Bool { if case .up = self.state { true } else { false } }
    /// The connection stands, greeted or not.
    package var isConnected: Bool {
        switch self.state {
        case .greeting, .up: true
        case .waiting, .dialling, .closed: false
        }
    }
    /// After this long without a word the peer counts as gone.
    package var silenceLimit: Nanoseconds { Nanoseconds(self.settings.silence) }
    /// `close` was called.
    package var isClosed: Bool { self.state == .closed }

    /// When `due` has something to say at the latest; nil: never by time alone.
    package var deadline: Instant? {
        switch self.state {
        case .waiting(let until), .greeting(let until): until
        case .up(let liveness, _): liveness.deadline
        case .dialling, .closed: nil
        }
    }

    /// What is due now; `open` moves on to dialling.
    package mutating func due(at now: Instant) -> Due {
        switch self.state {
        case .waiting(let until) where now >= until:
            self.state = .dialling
            return .open
        case .greeting(let until) where now >= until:
            return .lose(.helloMissing)
        case .up(let liveness, _):
            return switch liveness.due(at: now) {
            case .nothing: .nothing
            case .beat: .beat
            case .silent: .silent
            }
        case .waiting, .greeting, .dialling, .closed:
            return .nothing
        }
    }

    /// libzmq has a connection that speaks its protocol.
    package mutating func handshakeSucceeded(at now: Instant) -> HandshakeAction {
        guard self.state == .dialling else { return .ignore }
        self.state = .greeting(until: now + Nanoseconds(self.settings.helloLimit))
        return .greet
    }

    /// The peer's hello came, and its versions are ours.
    package mutating func helloReceived(at now: Instant) -> HelloAction {
        guard case .greeting = self.state else { return .ignore }
        self.state = .up(LivenessMachine(self.settings, now: now), since: now)
        return .reportUp
    }

    /// Anything at all came from the peer.
    package mutating func heard(at now: Instant) {
        guard case .up(var liveness, let since) = self.state else { return }
        liveness.heard(at: now)
        self.state = .up(liveness, since: since)
    }

    /// Anything at all went to the peer.
    package mutating func sent(at now: Instant) {
        guard case .up(var liveness, let since) = self.state else { return }
        liveness.sent(at: now)
        self.state = .up(liveness, since: since)
    }

    /// There was no socket to be had: wait, then try again.
    package mutating func openFailed(at now: Instant, random: UInt64) {
        guard self.state == .dialling else { return }
        self.state = .waiting(until: now + self.nextBackoff(random))
    }

    /// The connection is of no use any more. Ignored while dialling: libzmq tries again.
    package mutating func lost(_ reason: LinkLoss, at now: Instant, random: UInt64) -> LossAction {
        let wasUp: Bool
        switch self.state {
        case .closed, .waiting, .dialling:
            return .ignore
        case .greeting:
            wasUp = false
        case .up(_, let since):
            wasUp = true
            // A link that held for a while starts its back-off anew; one that flaps does not.
            if now >= since + Nanoseconds(self.settings.backoffMaximum) { self.losses = 0 }
        }
        let wait = reason == .refused ? Nanoseconds(self.settings.backoffMaximum) : self.nextBackoff(random)
        self.state = .waiting(until: now + wait)
        return wasUp || reason == .refused ? .closeAndReport(reason) : .close
    }

    /// The user is done with the link.
    package mutating func close() { self.state = .closed }

    private mutating func nextBackoff(_ random: UInt64) -> Nanoseconds {
        let minimum = Nanoseconds(self.settings.backoffMinimum)
        let maximum = Nanoseconds(self.settings.backoffMaximum)
        var ceiling = minimum
        for _ in 0..<min(self.losses, 32) where ceiling < maximum { ceiling = min(ceiling * 2, maximum) }
        self.losses = min(self.losses + 1, 32)
        let half = ceiling / 2
        return half + Nanoseconds(random % (ceiling - half + Nanoseconds(1)).count)
    }
}
