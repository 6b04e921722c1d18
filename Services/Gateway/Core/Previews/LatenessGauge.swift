package import Timing

/// Whether a gateway keeps up, judged by how late previews are: from when they might have been delivered to when they
/// are. It is zero on a gateway that has nothing else to do, whoever else is slow. ``CommitGauge`` counts what commits
/// take with another one.
///
///     note ──► window of 100 ms ──► late: the mean is above the bound
///                              ├──► steady
///                              └──► calm: it is below half of it, or nothing was delivered
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
    /// A mean above it is too late.
    package var bound: Nanoseconds
    private var sum = Nanoseconds.zero
    private var count: UInt64 = 0
    private var begunAt = Instant.start

    /// The length of a window.
    static let window = Nanoseconds.milliseconds(100)
    /// Fewer deliveries than that show no overload: a window that has fewer goes on, for a second at most.
    static let fewest: UInt64 = 4
    static let longestWindow = Nanoseconds.seconds(1)
    /// What counts no more than that spoils no mean for long.
    private static let largest = Nanoseconds.seconds(60)

    /// A gauge that has seen nothing.
    /// - Parameter bound: a mean lateness above it is too late.
    package init(bound: Nanoseconds) {
        self.bound = bound
    }

    /// When the window is over unless more is delivered.
    var windowEnd: Instant { self.begunAt + (self.isLate && self.isSparse ? Self.longestWindow : Self.window) }

    /// The mean of the window so far.
    private var meanSoFar: Nanoseconds { self.count == 0 ? .zero : self.sum / self.count }
    private var isLate: Bool { self.meanSoFar > self.bound }
    private var isSparse: Bool { self.count < Self.fewest }

    /// A room's previews were delivered so late.
    package mutating func note(_ lateness: Nanoseconds) {
        self.sum += min(lateness, Self.largest)
        self.count &+= 1
    }

    /// What the window showed, if it is over; the next one begins then.
    package mutating func verdict(at now: Instant) -> Verdict? {
        guard now >= self.windowEnd else { return nil }
        let (mean, isLate, isSparse) = (self.meanSoFar, self.isLate, self.isSparse)
        defer {
            self.mean = mean
            self.samples = self.count
            self.sum = .zero
            self.count = 0
            self.begunAt = now
        }
        if isLate { return isSparse ? .steady : .late }
        return mean <= self.bound / 2 ? .calm : .steady
    }
}
