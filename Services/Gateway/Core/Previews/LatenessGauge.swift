package import Timing

/// Whether a gateway keeps up, judged by how late previews are: from when they might have been delivered to when they
/// are. It is zero on a gateway that has nothing else to do, whoever else is slow. ``CommitGauge`` counts what commits
/// take with another one.
///
///     note ──► window of 100 ms ──► late: most of it was above the bound
///                              ├──► steady
///                              └──► calm: at least half of it was well below
///
/// Most of it counts, not the mean: a loop that stands still for a moment makes a few very late, and no pace helps that.
package struct LatenessGauge: Sendable {
    /// What a window showed.
    package enum Verdict: Comparable, Sendable {
        case calm
        case steady
        case late
    }

    /// The mean of the last window.
    package private(set) var mean = Nanoseconds.zero
    /// How much was noted in it.
    package private(set) var samples: UInt64 = 0
    /// What is above it is too late.
    package var bound: Nanoseconds
    /// How many quarters of the bound are still well.
    private let calmQuarters: UInt64
    private var sum = Nanoseconds.zero
    private var count: UInt64 = 0
    /// How much was too late, and how much was not well.
    private var lateCount: UInt64 = 0
    private var uneasyCount: UInt64 = 0
    private var begunAt = Instant.start

    /// The length of a window.
    static let window = Nanoseconds.milliseconds(100)
    /// Fewer deliveries than that show no overload: a window that has fewer goes on, for a second at most.
    static let fewest: UInt64 = 4
    static let longestWindow = Nanoseconds.seconds(1)
    /// What counts no more than that spoils no mean for long.
    private static let largest = Nanoseconds.seconds(60)

    /// A gauge that has seen nothing.
    /// - Parameters:
    ///   - bound: what is above it is too late.
    ///   - calmQuarters: how many quarters of that are still well.
    package init(bound: Nanoseconds, calmQuarters: UInt64 = 2) {
        self.bound = bound
        self.calmQuarters = calmQuarters
    }

    /// When the window is over unless more is delivered.
    var windowEnd: Instant { self.begunAt + (self.isLate && self.isSparse ? Self.longestWindow : Self.window) }

    /// The mean of the window so far.
    private var meanSoFar: Nanoseconds { self.count == 0 ? .zero : self.sum / self.count }
    private var isLate: Bool { self.lateCount * 2 > self.count }
    private var isSparse: Bool { self.count < Self.fewest }

    /// A room's previews were delivered so late.
    package mutating func note(_ lateness: Nanoseconds) {
        self.sum += min(lateness, Self.largest)
        self.count &+= 1
        if lateness > self.bound { self.lateCount &+= 1 }
        if lateness > self.bound / 4 * self.calmQuarters { self.uneasyCount &+= 1 }
    }

    /// What the window showed, if it is over; the next one begins then.
    package mutating func verdict(at now: Instant) -> Verdict? {
        guard now >= self.windowEnd else { return nil }
        let (mean, isLate, isSparse) = (self.meanSoFar, self.isLate, self.isSparse)
        let isCalm = self.uneasyCount * 2 <= self.count
        defer {
            self.mean = mean
            self.samples = self.count
            self.sum = .zero
            self.count = 0
            self.lateCount = 0
            self.uneasyCount = 0
            self.begunAt = now
        }
        if isLate { return isSparse ? .steady : .late }
        return isCalm ? .calm : .steady
    }
}
