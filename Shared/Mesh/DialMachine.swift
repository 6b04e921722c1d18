package import Timing

/// The state of a dialled link. Jitter is passed in as a random number.
///
/// ```
///             due: open         handshakeSucceeded          helloReceived
///   waiting ────────────▶ dialling ────────────▶ greeting ────────────▶ up
///      ▲                                            │                   │
///      └───────────── lost(reason): back-off ───────┴───────────────────┘        closed: from anywhere, terminal
/// ```
/// While dialling, libzmq retries by itself until a handshake fails; no timer is needed.
package struct DialMachine: Equatable {
    private enum State: Equatable {
        case waiting(until: Instant)
        case dialling
        case greeting(until: Instant)
        case up(LivenessMachine, since: Instant)
        case closed
    }

    package enum Due: Equatable {
        case nothing
        case open
        /// Send a beat, then call `sent`.
        case beat
        /// Read what has arrived, then call `lost(.silent)` if nothing was heard.
        case silent
        /// Call `lost` with this reason.
        case lose(LinkLoss)
    }

    package enum LossAction: Equatable {
        case ignore
        /// Close the socket immediately and drop its queues.
        case close
        /// The same, and report the loss to the user.
        case closeAndReport(LinkLoss)
    }

    private var state: State
    private var losses = 0
    private let settings: LivenessSettings

    /// A machine whose first open is due immediately.
    package init(_ settings: LivenessSettings, now: Instant) {
        self.settings = settings
        self.state = .waiting(until: now)
    }

    /// True when greeted: data may be sent.
    package var isUp: Bool { if case .up = self.state { true } else { false } }
    /// True when the connection is established, greeted or not.
    package var isConnected: Bool {
        switch self.state {
        case .greeting, .up: true
        case .waiting, .dialling, .closed: false
        }
    }
    /// A peer that was not heard for this long counts as gone.
    package var silenceLimit: Nanoseconds { Nanoseconds(self.settings.silence) }
    package var isClosed: Bool { self.state == .closed }

    /// When to call `due` at the latest; nil: no timer.
    package var deadline: Instant? {
        switch self.state {
        case .waiting(let until), .greeting(let until): until
        case .up(let liveness, _): liveness.deadline
        case .dialling, .closed: nil
        }
    }

    /// Returns the action that is due now; `open` moves on to dialling.
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

    /// libzmq completed its handshake on a connection.
    /// - Returns: true when our hello is to be sent.
    package mutating func handshakeSucceeded(at now: Instant) -> Bool {
        guard self.state == .dialling else { return false }
        self.state = .greeting(until: now + Nanoseconds(self.settings.helloLimit))
        return true
    }

    /// The connection failed during libzmq's handshake: a fresh socket is due after a back-off. libzmq itself gives up
    /// after some of these failures, and would never try another key.
    /// - Returns: false when the failure is not of the present connection.
    package mutating func handshakeFailed(at now: Instant, random: UInt64) -> Bool {
        guard self.state == .dialling else { return false }
        self.state = .waiting(until: now + self.nextBackoff(random))
        return true
    }

    /// Another key may be used from now on: a socket that is still dialling is to be replaced immediately.
    /// - Returns: false when it is not dialling.
    package mutating func redial(at now: Instant) -> Bool {
        guard self.state == .dialling else { return false }
        self.state = .waiting(until: now)
        return true
    }

    /// The peer's hello arrived, with matching versions.
    /// - Returns: true when the link is up from now on.
    package mutating func helloReceived(at now: Instant) -> Bool {
        guard case .greeting = self.state else { return false }
        self.state = .up(LivenessMachine(self.settings, now: now), since: now)
        return true
    }

    /// Any message arrived from the peer.
    package mutating func heard(at now: Instant) {
        guard case .up(var liveness, let since) = self.state else { return }
        liveness.heard(at: now)
        self.state = .up(liveness, since: since)
    }

    /// Any message was sent to the peer.
    package mutating func sent(at now: Instant) {
        guard case .up(var liveness, let since) = self.state else { return }
        liveness.sent(at: now)
        self.state = .up(liveness, since: since)
    }

    /// No socket could be created: backs off, then retries.
    package mutating func openFailed(at now: Instant, random: UInt64) {
        guard self.state == .dialling else { return }
        self.state = .waiting(until: now + self.nextBackoff(random))
    }

    package mutating func lost(_ reason: LinkLoss, at now: Instant, random: UInt64) -> LossAction {
        let wasUp: Bool
        switch self.state {
        case .closed, .waiting, .dialling:
            return .ignore
        case .greeting:
            wasUp = false
        case .up(_, let since):
            wasUp = true
            // A link that was up for long enough resets its back-off; one that flaps does not.
            if now >= since + Nanoseconds(self.settings.backoffMaximum) { self.losses = 0 }
        }
        let wait = reason == .refused ? Nanoseconds(self.settings.backoffMaximum) : self.nextBackoff(random)
        self.state = .waiting(until: now + wait)
        return wasUp || reason == .refused ? .closeAndReport(reason) : .close
    }

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
