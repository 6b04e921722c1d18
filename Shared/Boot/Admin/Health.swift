internal import NIOConcurrencyHelpers
internal import NIOCore

/// A daemon's readiness, the conjunction of named checks. Thread-safe.
///
/// Every part that must be available before traffic registers a check while the daemon is built. The daemon is ready
/// when all checks are, and no longer once it drains.
package final class Health: Sendable {
    private struct State {
        /// Reasons by check; nil when that check passes. In the order of registration.
        var checks: [(name: String, reason: String?)] = []
        var isServing = false
        var isDraining = false
        var url: String?
        var onChange: (@Sendable (HealthState) -> Void)?
        var last: HealthState?
        /// The last beat of each loop, ns, nil before its first beat, and whether that was in the present round.
        var pulses: [(name: String, beatAt: UInt64?, isInRound: Bool)] = []
        var onRound: (@Sendable () -> Void)?
        /// Conditions that deserve a note although the daemon is ready.
        var notes: [(name: String, text: String?)] = []
    }

    private let state = NIOLockedValueBox(State())
    private let clock: @Sendable () -> UInt64
    /// The time without a beat after which a loop counts as stalled, ns.
    private static let stallLimit: UInt64 = 5_000_000_000

    /// - Parameter clock: nanoseconds of a monotonic clock.
    package init(clock: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }) {
        self.clock = clock
    }

    /// Adds a check that is not ready yet ("starting").
    package func check(_ name: String) -> ReadinessCheck {
        let index = self.state.withLockedValue { state in
            state.checks.append((name, "starting"))
            return state.checks.count - 1
        }
        return ReadinessCheck(health: self, index: index)
    }

    /// Adds a loop whose beats are monitored, from its first one on.
    package func pulse(_ name: String) -> Pulse {
        let index = self.state.withLockedValue { state in
            state.pulses.append((name, nil, false))
            return state.pulses.count - 1
        }
        return Pulse(health: self, index: index)
    }

    /// The stalled loops, and for how many seconds; none while draining, when loops end one by one.
    package var stalled: [(name: String, seconds: UInt64)] {
        let now = self.clock()
        return self.state.withLockedValue { state in
            state.isDraining
                ? []
                : state.pulses.compactMap { pulse in
                    guard let beatAt = pulse.beatAt, now > beatAt + Self.stallLimit else { return nil }
                    return (pulse.name, (now - beatAt) / 1_000_000_000)
                }
        }
    }

    /// Adds a note on a condition that does not affect readiness.
    package func note(_ name: String) -> HealthNote {
        let index = self.state.withLockedValue { state in
            state.notes.append((name, nil))
            return state.notes.count - 1
        }
        return HealthNote(health: self, index: index)
    }

    package var notes: [HealthState.Reason] {
        self.state.withLockedValue { state in
            state.notes.compactMap { note in note.text.map { HealthState.Reason(check: note.name, text: $0) } }
        }
    }

    /// Adds what alerts are made of: readiness, and loops that stand still.
    func addMetrics(to metrics: MetricsRegistry) {
        metrics.gauge("touchsync_ready", "1 while the daemon is ready, as /readyz says; else 0.") {
            self.current.isReady ? 1 : 0
        }
        metrics.gauge("touchsync_stalled_loops", "Loops that have not turned for 5 s, as /healthz says.") {
            Double(self.stalled.count)
        }
    }

    /// Calls back, on the thread of a loop, each time that every loop has beaten since the last time: a round. While
    /// draining, when loops end one by one, each beat is a round.
    func observeRounds(_ observer: @escaping @Sendable () -> Void) {
        self.state.withLockedValue { $0.onRound = observer }
    }

    fileprivate func beat(_ index: Int) {
        let now = self.clock()
        let roundEnded: (@Sendable () -> Void)? = self.state.withLockedValue { state in
            state.pulses[index].beatAt = now
            state.pulses[index].isInRound = true
            guard state.isDraining || state.pulses.allSatisfy({ $0.isInRound }) else { return nil }
            for index in state.pulses.indices { state.pulses[index].isInRound = false }
            return state.onRound
        }
        roundEnded?()
    }

    fileprivate func say(_ index: Int, _ text: String?) {
        self.state.withLockedValue { $0.notes[index].text = text }
    }

    /// Sets the address at which apps reach this daemon; part of the ready line.
    package func announce(url: String) {
        self.change { $0.url = url }
    }

    package var current: HealthState { self.state.withLockedValue { Self.sum($0) } }

    /// The drain has started: never ready again.
    package func drain() {
        self.change { $0.isDraining = true }
    }

    /// The daemon's services have been started; nothing is ready before that.
    func serve() {
        self.change { $0.isServing = true }
    }

    /// Calls back with the present state and then on every change, one call at a time.
    func observe(_ observer: @escaping @Sendable (HealthState) -> Void) {
        self.change { $0.onChange = observer }
    }

    fileprivate func set(_ index: Int, _ reason: String?) {
        self.change { $0.checks[index].reason = reason }
    }

    private func change(_ body: (inout State) -> Void) {
        let news: (observer: @Sendable (HealthState) -> Void, sum: HealthState)? = self.state.withLockedValue { state in
            body(&state)
            let sum = Self.sum(state)
            guard state.last != sum, let observer = state.onChange else { return nil }
            state.last = sum
            return (observer, sum)
        }
        // Outside the lock: the observer logs and writes.
        if let news { news.observer(news.sum) }
    }

    private static func sum(_ state: State) -> HealthState {
        var reasons = state.checks.compactMap { check in check.reason.map { (check.name, $0) } }
        if !state.isServing { reasons.append(("process", "starting")) }
        if state.isDraining { reasons = [("process", "draining")] }
        return HealthState(reasons: reasons.map { HealthState.Reason(check: $0.0, text: $0.1) }, url: state.url)
    }
}

/// Whether a daemon is ready, and if not, why.
package struct HealthState: Sendable, Equatable {
    /// One failing check.
    package struct Reason: Sendable, Equatable {
        package let check: String
        package let text: String
    }

    /// The failing checks; empty when ready.
    package let reasons: [Reason]
    /// The address for apps, if the daemon has one.
    package let url: String?
    package var isReady: Bool { self.reasons.isEmpty }
}

/// One condition of readiness, reported by the part that knows about it. Thread-safe, cheap when nothing changes.
package struct ReadinessCheck: Sendable {
    let health: Health
    let index: Int

    package func ready() { self.health.set(self.index, nil) }

    /// Reports that the condition does not hold.
    /// - Parameter reason: for people, such as `no committer answers`.
    package func notReady(_ reason: String) { self.health.set(self.index, reason) }
}

/// The heartbeat of a loop, about once a second, as proof that it runs. Thread-safe.
package struct Pulse: Sendable {
    let health: Health
    let index: Int

    package func beat() { self.health.beat(self.index) }
}

/// A note for operators on a condition that does not affect readiness. Thread-safe.
package struct HealthNote: Sendable {
    let health: Health
    let index: Int

    /// Sets the note, or removes it with nil.
    package func say(_ text: String?) { self.health.say(self.index, text) }
}
