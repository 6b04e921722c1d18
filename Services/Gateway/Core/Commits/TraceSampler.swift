import Timing
import Wire

/// Chooses the commits that are traced: those whose apps record a trace, and a share of all others, up to a number a
/// second.
package struct TraceSampler {
    /// Traces begun, and those that were not because there were too many.
    package private(set) var tracedTotal: UInt64 = 0, overRateTotal: UInt64 = 0
    private var random: SplitMix64
    /// The share of commits that are traced without their app's wish, in 2^-53.
    private let share: UInt64
    /// Nil when nothing is traced.
    private var budget: RateMeter?

    /// - Parameter seed: of the choice, and of the traces that are begun here; random at each start.
    init(limits: GatewayLimits, seed: UInt64) {
        self.random = SplitMix64(seed: splitMix(seed))
        self.share = UInt64(limits.traceShare * Double(Self.unit))
        if limits.tracesPerSecond > 0 {
            self.budget = RateMeter(perSecond: limits.tracesPerSecond)
        }
    }

    private static let unit: UInt64 = 1 << 53

    /// The trace of the next commit; nil for nearly all commits.
    /// - Parameter parent: the trace of which the app says that the commit is a part.
    mutating func next(_ parent: TraceParent?, at now: Instant) -> TraceID? {
        guard self.budget != nil, parent?.isSampled == true || self.isDrawn() else { return nil }
        guard self.budget?.spend(at: now) == true else {
            self.overRateTotal += 1
            return nil
        }
        self.tracedTotal += 1
        return parent?.id ?? TraceID(high: self.random.next(), low: self.random.next() | 1)
    }

    private mutating func isDrawn() -> Bool { self.random.next() % Self.unit < self.share }
}
