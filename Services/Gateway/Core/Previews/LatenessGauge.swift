package import Timing

/// Whether a gateway keeps up, judged by how late previews are: from when they might have been delivered to when they
/// are. It is zero on a gateway that has nothing else to do, whoever else is slow.
///
///     note ──► window of 100 ms ──► late: most of it was above the bound
///                              ├──► steady
///                              └──► calm: at least half of it was below half the bound
///
/// Most of it counts, not the mean: a loop that stands still for a moment makes a few very late, and no interval helps that.
package struct LatenessGauge: Sendable {
    /// What a window showed.
    package enum Verdict: Sendable {
        case calm
        case steady
        case late
    }

    /// The mean of the last window.
    package private(set) var mean = Nanoseconds.zero
    /// What is above it is too late.
    private let bound: Nanoseconds
    private var sum = Nanoseconds.zero
    private var count: UInt64 = 0
    /// How much was too late, and how much was not well.
    private var lateCount: UInt64 = 0
    private var uneasyCount: UInt64 = 0
    private var begunAt = Instant.start

    /// The length of a window.
    static let window = Nanoseconds.milliseconds(100)
    /// Fewer deliveries than that show nothing: a window that has fewer goes on, for a second at most.
    static let fewest: UInt64 = 4
    static let longestWindow = Nanoseconds.seconds(1)
    /// What counts no more than that spoils no mean for long.
    private static let largest = Nanoseconds.seconds(60)

    /// A gauge that has seen nothing.
    /// - Parameter bound: what is above it is too late.
    package init(bound: Nanoseconds) { self.bound = bound }

    /// When the window is over unless more is delivered.
    var windowEnd: Instant { self.begunAt + (self.isSparse ? Self.longestWindow : Self.window) }

    private var isLate: Bool { self.lateCount * 2 > self.count }
    private var isSparse: Bool { self.count < Self.fewest }

    /// A room's previews were delivered so late.
    package mutating func note(_ lateness: Nanoseconds) {
        self.sum += min(lateness, Self.largest)
        self.count &+= 1
        if lateness > self.bound { self.lateCount &+= 1 }
        if lateness > self.bound / 2 { self.uneasyCount &+= 1 }
    }

    /// What the window showed, if it is over; the next one begins then.
    package mutating func verdict(at now: Instant) -> Verdict? {
        guard now >= self.windowEnd else { return nil }
        let last = exchange(&self, with: LatenessGauge(bound: self.bound))
        self.begunAt = now
        self.mean = last.count == 0 ? .zero : last.sum / last.count
        if last.isLate { return last.isSparse ? .steady : .late }
        return last.uneasyCount * 2 <= last.count ? .calm : .steady
    }
}
