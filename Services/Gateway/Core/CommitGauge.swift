/// Whether commits take much longer than they usually do, because of previews.
///
///     note ──► window ──► late: the mean is above twice what is usual
///                    ├──► steady
///                    └──► calm: it is below three quarters of that, or previews can hardly be the reason
///
/// Whoever delivers previews takes the cores that a commit needs all along its way, most of all in PostgreSQL: commits
/// wait there long before previews are late here. What is usual depends on disks and networks, so it is learned: from
/// windows in which previews left at once, and from any that was still better. A database that is slow by itself
/// therefore slows no room down for good: with fewer previews they leave at once, and its pace becomes usual.
package struct CommitGauge: Sendable {
    private var gauge = LatenessGauge(bound: .max)
    /// What a commit takes on average when previews leave it alone, µs; nil until the first has come back.
    package private(set) var usual: UInt64?

    /// So many times the usual is late.
    private static let tolerance: UInt64 = 2
    /// What is never late, µs.
    private static let least: UInt64 = 3000
    /// Previews that are delivered so soon on average, µs, found the event loop idle.
    private static let idle: UInt64 = 250
    /// In so many commits the usual becomes what they take; a window has the weight of an eighth of them at most.
    private static let memory = 64

    /// How long commits took in the last window on average, µs.
    package var mean: UInt64 { self.gauge.mean }

    /// A commit has its result.
    /// - Parameter time: since it was taken, µs.
    package mutating func note(_ time: UInt64) {
        self.gauge.note(time)
    }

    /// What a window showed that is over at time `now` (ms).
    /// - Parameter lateness: how late previews were in it on average, µs.
    package mutating func verdict(at now: UInt64, lateness: UInt64) -> LatenessGauge.Verdict {
        let calm = self.gauge.bound / 4 * 3
        guard let verdict = self.gauge.verdict(at: now) else { return .steady }
        let isIdle = lateness < Self.idle
        if self.gauge.samples > 0 { self.learn(isIdle: isIdle) }
        return isIdle || self.mean <= calm ? .calm : verdict
    }

    private mutating func learn(isIdle: Bool) {
        let usual = self.usual ?? self.mean
        let weight = min(Int(self.gauge.samples), Self.memory / 8)
        let step = (Int(self.mean) - Int(usual)) * weight / Self.memory
        self.usual = isIdle || step < 0 ? UInt64(Int(usual) + step) : usual
        self.gauge.bound = max(Self.least, Self.tolerance * (self.usual ?? 0))
    }
}
