internal import NIOConcurrencyHelpers

/// Whether a daemon is ready, as the sum of named checks. Thread-safe.
///
/// Every part that must stand before traffic may come registers a check while the daemon is built; the daemon is ready
/// when all checks are, and no longer ready once it drains.
package final class Health: Sendable {
    private struct State {
        /// Reasons by check; nil when that check is fine. In the order of registration.
        var checks: [(name: String, reason: String?)] = []
        var isServing = false
        var isDraining = false
        var url: String?
        var onChange: (@Sendable (HealthState) -> Void)?
        var last: HealthState?
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Adds a check that is not ready yet ("starting").
    package func check(_ name: String) -> ReadinessCheck {
        let index = self.state.withLockedValue { state in
            state.checks.append((name, "starting"))
            return state.checks.count - 1
        }
        return ReadinessCheck(health: self, index: index)
    }

    /// Names the address at which apps reach this daemon; reported with the ready line.
    package func announce(url: String) {
        self.change { $0.url = url }
    }

    /// The present sum.
    package var current: HealthState { self.state.withLockedValue { Self.sum($0) } }

    /// Drain has begun: not ready any more, for good.
    package func drain() {
        self.change { $0.isDraining = true }
    }

    /// The daemon's services have been started; before this nothing is ready.
    func serve() {
        self.change { $0.isServing = true }
    }

    /// Calls back with the present state and then at every change, one call at a time per change.
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
        /// The check's name.
        package let check: String
        /// Why it fails.
        package let text: String
    }

    /// Failing checks; empty when ready.
    package let reasons: [Reason]
    /// The address for apps, if the daemon has one.
    package let url: String?
    package var isReady: Bool { self.reasons.isEmpty }
}

/// One condition of readiness, held by the part that knows about it. Thread-safe, cheap when nothing changes.
package struct ReadinessCheck: Sendable {
    let health: Health
    let index: Int

    /// The condition holds.
    package func ready() { self.health.set(self.index, nil) }

    /// The condition does not hold.
    /// - Parameter reason: for people, such as `no committer answers`.
    package func notReady(_ reason: String) { self.health.set(self.index, reason) }
}
