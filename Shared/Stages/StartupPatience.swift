package import Boot
package import Timing

/// Decides when enough instances of a stage are up for readiness: all of them at first, any of them after ``length``.
///
/// Startup waits for all instances, because daemons that see different instances would choose different owners for the
/// same room.
package struct StartupPatience: Sendable {
    /// How long to wait for all instances.
    package static let length = Nanoseconds.seconds(3)
    private let end: Instant

    package init(from now: Instant) {
        self.end = now + Self.length
    }

    /// The reason why the daemon is not ready, for people; nil when it is.
    package func shortage(of stages: [(Stage, ShardOwners)], at now: Instant) -> String? {
        if let (missing, _) = stages.first(where: { $0.1.upCount == 0 }) { return "no \(missing) answers" }
        let late = stages.first { $0.1.upCount < $0.1.count }
        return now < self.end ? late.map { "some \($0.0)s do not answer yet" } : nil
    }
}

extension ReadinessCheck {
    /// Reports the reason why the daemon is not ready; nil when it is.
    package func report(_ shortage: String?) {
        if let shortage { self.notReady(shortage) } else { self.ready() }
    }
}
