package import Timing

/// How long the gateway's load asks previews to wait for each other: not at all while the process takes less than its share
/// of a core, else as long as brings it down to that share, if any wait does.
///
///     share of a core   0 ───────────── budget ───────────── 1½ budgets ──────►
///     wait                    falls       │      rises             │  leaps
///                        the faster, the further away
///
/// To wait costs age and saves work at every stage behind, the more the shorter the wait is. A wait that swings is thus
/// dearer than a steady one and older as well, and what a process takes differs from look to look: so it follows the mean
/// of about a second, in steps that are the smaller the shorter the wait is.
package struct LoadGauge: Sendable {
    /// The least time between two looks at the load.
    private static let interval = Nanoseconds.milliseconds(100)
    /// How long the load that the wait follows is averaged, seconds.
    private static let memory = 0.5
    /// How far the wait moves in a second for each budget that the load is away from it, relative to the wait and a
    /// least one.
    private static let rate = 1.5
    private static let leastWait = 0.2
    /// How far it rises at a look from one and a half budgets on. A moment's load, as when many apps come, takes it no
    /// further than to half: from there on it costs far more age than it saves.
    private static let leap = 0.25
    private static let half = 0.5

    /// CPU time that previews may be quick for, as a share of a core.
    private let budget: Double
    /// The last look: when it was, and the CPU time until then.
    private var last: (at: Instant, used: Nanoseconds)?
    /// The mean load, as a share of a core; nil until it is known.
    private var load: Double?
    /// The wait, relative to the longest: from 0, nothing waits, to 1.
    package private(set) var wait = 0.0

    /// - Parameter budget: the share of one core up to which previews do not wait, hundredths; 0: they always do.
    package init(budget: Int) {
        self.budget = Double(max(0, budget)) / 100
        if budget <= 0 { self.wait = 1 }
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
        let load = self.mean((used - last.used).seconds / elapsed.seconds, over: elapsed.seconds)
        if isOverloaded {
            self.leap(to: 1)
        } else if load > self.budget * 1.5, self.wait < Self.half {
            self.leap(to: Self.half)
        } else {
            self.load = load
            self.move(by: (load / self.budget - 1) * Self.rate * (self.wait + Self.leastWait) * elapsed.seconds)
        }
    }

    /// The mean load after another stretch of time, which counts the more the longer it is.
    private func mean(_ share: Double, over seconds: Double) -> Double {
        guard let load = self.load else { return share }
        // Nearly exp(-time), the average of a low-pass filter.
        let time = seconds / Self.memory
        return share + (load - share) / (1 + time + time * time / 2)
    }

    /// Rises at once. What the load was before says nothing of what it is with such a wait.
    private mutating func leap(to limit: Double) {
        self.load = nil
        self.wait = min(self.wait + Self.leap, limit)
    }

    private mutating func move(by step: Double) {
        self.wait = min(max(0, self.wait + step), 1)
    }
}
