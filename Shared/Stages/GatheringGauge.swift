package import Timing

/// How long a daemon's load asks previews to wait for each other: not at all while the process is well within its share of
/// a core, as long as they may above it (``GatheringLevel``).
///
///     share of a core    0 ────────── ⅞ of the budget ─────── budget ──────────►
///     level                 falls     │      stays       │   rises, the faster the further above
///
/// To wait costs age and saves work at every stage behind. The level moves in steps, and where the wait that it asks for
/// brings the process back below its budget it stays.
package struct GatheringGauge: Sendable {
    /// The least time between two looks at the load.
    private static let interval = Nanoseconds.milliseconds(100)
    /// How far the level rises at a look above the budget; twice as far from one and a half times the budget on.
    private static let rise: UInt64 = 125
    /// How far it falls in each interval below seven eighths of the budget.
    private static let fall: UInt64 = 50

    /// CPU time that previews may be quick for, hundredths of a core.
    private let budget: UInt64
    /// The last look: when it was, and the CPU time until then.
    private var last: (at: Instant, used: Nanoseconds)?
    /// The wait.
    package private(set) var level = GatheringLevel.none

    /// - Parameter budget: the share of one core up to which previews do not wait, hundredths; 0: they always do.
    package init(budget: Int) {
        self.budget = UInt64(clamping: budget)
        if budget == 0 { self.level = .full }
    }

    /// Looks at the load, unless it did a moment ago.
    /// - Parameters:
    ///   - used: CPU time that the process has used since it started.
    ///   - isOverloaded: previews are being thinned out: they wait, whatever the share.
    package mutating func look(used: Nanoseconds, isOverloaded: Bool = false, at now: Instant) {
        guard self.budget > 0 else { return }
        guard let last else {
            self.last = (now, used)
            return
        }
        let elapsed = now.elapsed(since: last.at)
        guard elapsed >= Self.interval else { return }
        self.last = (now, used)
        let busy = (used - last.used) * 100
        let allowed = elapsed * self.budget
        if isOverloaded || busy > allowed {
            self.raise(by: isOverloaded || busy > allowed + allowed / 2 ? 2 * Self.rise : Self.rise)
        } else if busy < allowed / 8 * 7 {
            self.lower(by: Self.fall * (elapsed.count / Self.interval.count))
        }
    }

    private mutating func raise(by step: UInt64) {
        self.level = GatheringLevel(UInt16(clamping: UInt64(self.level.thousandths) + step))
    }

    private mutating func lower(by step: UInt64) {
        let thousandths = UInt64(self.level.thousandths)
        self.level = GatheringLevel(UInt16(clamping: thousandths - min(step, thousandths)))
    }
}
