package import Boot
package import Timing

/// When the instances of a stage that answer are enough to be ready: all of them at first, any of them after a moment.
///
/// At the start all are waited for, since daemons that see different instances would choose different owners for the
/// same room.
package struct StartupPatience: Sendable {
    /// How long all instances are waited for.
    package static let length = Nanoseconds.seconds(3)
    private let end: Instant

    /// Waits from `now` on.
    package init(from now: Instant) {
        self.end = now + Self.length
    }

    /// What keeps a daemon from being ready, for people; nil when nothing does.
    package func shortage(of stages: [(Stage, ShardOwners)], at now: Instant) -> String? {
        if let (missing, _) = stages.first(where: { $0.1.upCount == 0 }) { return "no \(missing) answers" }
        let late = stages.first { $0.1.upCount < $0.1.names.count }
        return now < self.end ? late.map { "some \($0.0)s do not answer yet" } : nil
    }
}

extension ReadinessCheck {
    /// Says what keeps the daemon from being ready; nil when nothing does.
    package func report(_ shortage: String?) {
        if let shortage { self.notReady(shortage) } else { self.ready() }
    }
}
