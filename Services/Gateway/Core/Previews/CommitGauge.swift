package import Timing

/// Whether commits take much longer than they usually do, because of previews.
///
///     note ──► window ──► late: most took more than twice what is usual
///                    ├──► steady
///                    └──► calm: at least half took less than three quarters of that, or previews can hardly be the reason
///
/// Delivering previews uses the cores that a commit needs all along its way, most of all in PostgreSQL: commits wait
/// there long before previews are late here. What is usual depends on disks and networks, so it is learned: from windows
/// in which previews left immediately, and from any that was still better. A database that is slow by itself therefore
/// slows no room down for good: with fewer previews they leave immediately, and its pace becomes usual.
package struct CommitGauge: Sendable {
    private var gauge = LatenessGauge(bound: .forever, calmQuarters: 3)
    /// What a commit takes on average when previews leave it alone; nil until the first has come back.
    package private(set) var usual: Nanoseconds?

    /// A commit that takes this many times the usual time is late.
    private static let tolerance: UInt64 = 2
    /// A commit that takes less is never late.
    private static let least = Nanoseconds.milliseconds(3)
    /// Previews that wait less on average found the event loop idle.
    private static let idle = Nanoseconds.microseconds(250)
    /// The number of commits after which the usual time has adapted; one window weighs as much as an eighth at most.
    private static let memory: UInt64 = 64

    /// How long commits took in the last window on average.
    package var mean: Nanoseconds { self.gauge.mean }

    /// A commit has its result.
    /// - Parameter time: since it was accepted.
    package mutating func note(_ time: Nanoseconds) {
        self.gauge.note(time)
    }

    /// What a window showed that is over.
    /// - Parameter lateness: how late previews were in it on average.
    package mutating func verdict(at now: Instant, lateness: Nanoseconds) -> LatenessGauge.Verdict {
        guard let verdict = self.gauge.verdict(at: now) else { return .steady }
        let isIdle = lateness < Self.idle
        if self.gauge.samples > 0 { self.learn(isIdle: isIdle) }
        return isIdle ? .calm : verdict
    }

    private mutating func learn(isIdle: Bool) {
        let usual = self.usual ?? self.mean
        let weight = min(self.gauge.samples, Self.memory / 8)
        let (rise, fall) = (self.mean - usual, usual - self.mean)
        // Beside busy previews the usual only falls: an overload must not become usual.
        self.usual = usual + (isIdle ? rise * weight / Self.memory : .zero) - fall * weight / Self.memory
        self.gauge.bound = max(Self.least, (self.usual ?? .zero) * Self.tolerance)
    }
}
