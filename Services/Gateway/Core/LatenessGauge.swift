/// Whether a gateway keeps up, told from how late previews are: from when they might have been delivered to when they
/// are. It is zero on a gateway that has nothing else to do, whoever else is slow. ``CommitGauge`` counts
/// what commits take with another one.
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

    /// The mean of the last window, µs.
    package private(set) var mean: UInt64 = 0
    /// How much was noted in it.
    package private(set) var samples: UInt64 = 0
    /// A mean above it is too late, µs.
    package var bound: UInt64
    private var sum: UInt64 = 0
    private var count: UInt64 = 0
    private var begunAt: UInt64 = 0

    /// The length of a window, ms.
    static let windowMs: UInt64 = 100
    /// Fewer deliveries than that show no overload: a window that has fewer goes on, for a second at most.
    static let fewest: UInt64 = 4
    static let longestMs: UInt64 = 1000

    /// A gauge that has seen nothing.
    /// - Parameter bound: a mean lateness above it is too late, µs.
    package init(bound: UInt64) {
        self.bound = bound
    }

    /// When the window is over unless more is delivered, ms.
    var windowEnd: UInt64 { self.begunAt + (self.isLate && self.isSparse ? Self.longestMs : Self.windowMs) }

    /// The mean of the window so far, µs.
    private var meanSoFar: UInt64 { self.count == 0 ? 0 : self.sum / self.count }
    private var isLate: Bool { self.meanSoFar > self.bound }
    private var isSparse: Bool { self.count < Self.fewest }

    /// A room's previews were delivered so late, µs.
    package mutating func note(_ lateness: UInt64) {
        self.sum &+= min(lateness, 60_000_000)
        self.count &+= 1
    }

    /// What the window showed, if it is over at time `now` (ms); the next one begins then.
    package mutating func verdict(at now: UInt64) -> Verdict? {
        guard now >= self.windowEnd else { return nil }
        let (mean, isLate, isSparse) = (self.meanSoFar, self.isLate, self.isSparse)
        defer {
            self.mean = mean
            self.samples = self.count
            self.sum = 0
            self.count = 0
            self.begunAt = now
        }
        if isLate { return isSparse ? .steady : .late }
        return mean <= self.bound / 2 ? .calm : .steady
    }
}
