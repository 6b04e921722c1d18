package import Timing

/// One connection's liveness: when to beat, and when the other side counts as silent.
///
/// ```
///   sent ──(beat, nothing sent)──▶ due: beat ──sent──┐        heard ──(silence, nothing heard)──▶ due: silent
///    ▲───────────────────────────────────────────────┘          ▲── heard ──────────────────────────┘
/// ```
package struct LivenessMachine: Equatable {
    package enum Due: Equatable {
        case nothing
        /// Send a beat, then call `sent`.
        case beat
        /// Nothing was heard for too long. Read what has arrived meanwhile; if that does not lead to `heard`, the peer
        /// is gone.
        case silent
    }

    private var lastSent: Instant
    private var lastHeard: Instant
    private let beat: Nanoseconds
    private let silence: Nanoseconds

    package init(_ settings: LivenessSettings, now: Instant) {
        self.beat = Nanoseconds(settings.beat)
        self.silence = Nanoseconds(settings.silence)
        self.lastSent = now
        self.lastHeard = now
    }

    package mutating func sent(at now: Instant) { self.lastSent = now }
    package mutating func heard(at now: Instant) { self.lastHeard = now }

    /// True when nothing was heard for the whole limit.
    package func isSilent(at now: Instant) -> Bool { now >= self.lastHeard + self.silence }

    package func due(at now: Instant) -> Due {
        if self.isSilent(at: now) { return .silent }
        return now >= self.beatTime ? .beat : .nothing
    }

    package var deadline: Instant { min(self.beatTime, self.lastHeard + self.silence) }

    // Aligned down to quarters of a beat on the common clock, so that all links of a thread (and of a host) beat in one
    // wake-up instead of one each.
    private var beatTime: Instant {
        let time = self.lastSent + self.beat
        let grid = self.beat / 4
        return grid == .zero ? time : time - Nanoseconds(time.nanoseconds % grid.count)
    }
}

/// How links detect that the other side is gone, and how they reconnect.
package struct LivenessSettings: Sendable, Equatable {
    /// The interval after which a beat is sent if nothing else was.
    package var beat = Duration.seconds(1)
    /// A peer that was not heard for this long counts as gone.
    package var silence = Duration.milliseconds(2500)
    /// The other side's hello must arrive within this time after connecting.
    package var helloLimit = Duration.seconds(2)
    /// The first delay before a lost link is reopened; doubled with every loss in a row, each delay drawn from its
    /// upper half.
    package var backoffMinimum = Duration.milliseconds(100)
    package var backoffMaximum = Duration.seconds(2)
    package init() {}

    /// The first invalid setting, in words; nil when all are valid.
    package var problem: String? {
        if self.beat < .milliseconds(10) { return "beat must be at least 10 ms" }
        if self.silence < self.beat * 2 { return "silence must be at least two beats" }
        if self.helloLimit < .milliseconds(10) { return "helloLimit must be at least 10 ms" }
        if self.backoffMinimum < .milliseconds(1) { return "backoffMinimum must be at least 1 ms" }
        if self.backoffMaximum < self.backoffMinimum { return "backoffMaximum must not be below backoffMinimum" }
        return nil
    }
}
