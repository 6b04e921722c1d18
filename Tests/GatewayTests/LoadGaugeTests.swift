import GatewayCore
import Testing
import Timing
import TimingTestKit

/// When previews begin to wait for each other, and when they cease to.
@Suite struct LoadGaugeTests {
    private static let pause = Nanoseconds.milliseconds(200)

    /// Lets a process use a share of a core for some looks at its load.
    private struct Load {
        var gauge = LoadGauge(budget: 50)
        private var now = Instant.start
        private var used = Nanoseconds.zero

        init() { self.gauge.look(used: .zero, at: .start) }

        /// - Parameter share: hundredths of a core.
        mutating func run(_ share: UInt64, looks: Int, isOverloaded: Bool = false) {
            for _ in 0..<looks {
                self.now += LoadGaugeTests.pause
                self.used = self.used + LoadGaugeTests.pause * share / 100
                self.gauge.look(used: self.used, isOverloaded: isOverloaded, at: self.now)
            }
        }
    }

    @Test func previewsDoNotWaitWithinTheBudget() {
        var load = Load()
        load.run(49, looks: 100)
        #expect(load.gauge.wait == 0)
    }

    @Test func theWaitRisesWithTheLoadAndFallsAgain() {
        var load = Load()
        var levels: [Double] = []
        // A fifth above the budget, then on it, then a fifth below it, two seconds each.
        for share in [60, 50, 40] as [UInt64] {
            load.run(share, looks: 10)
            levels.append(load.gauge.wait)
        }
        #expect((0.15...0.2).contains(levels[0]))
        #expect(levels[1] >= levels[0] && levels[1] < levels[0] + 0.06)
        #expect(levels[2] < levels[1] - 0.1)
        load.run(40, looks: 10)
        #expect(load.gauge.wait == 0)
    }

    @Test func theFurtherAboveTheBudgetTheFasterItRises() {
        var levels: [Double] = []
        for share in [55, 60, 70] as [UInt64] {
            var load = Load()
            load.run(share, looks: 5)
            levels.append(load.gauge.wait)
        }
        #expect(levels[0] > 0 && levels[1] > levels[0] * 1.5 && levels[2] > levels[1] * 1.5)
    }

    @Test func aSuddenLoadIsAnsweredAtOnce() {
        var load = Load()
        load.run(74, looks: 1)
        #expect(load.gauge.wait < 0.1)
        load = Load()
        load.run(76, looks: 1)
        #expect(load.gauge.wait == 0.25)
    }

    /// When many apps come, previews do not wait for each other's publishers as well, unless it lasts.
    @Test func aMomentsLoadTakesItToHalf() {
        var load = Load()
        load.run(90, looks: 2)
        #expect(load.gauge.wait == 0.5)
        load.run(60, looks: 2)
        #expect(load.gauge.wait < 0.6)
        load.run(90, looks: 10)
        #expect(load.gauge.wait == 1)
    }

    /// One look of many tells nothing: what a process takes is never even.
    @Test func aSingleLookMovesLittle() {
        var load = Load()
        load.run(52, looks: 20)
        let before = load.gauge.wait
        load.run(72, looks: 1)
        load.run(50, looks: 1)
        #expect(load.gauge.wait < before + 0.06)
    }

    /// Where the wait saves enough, it stays: no swinging between two.
    @Test func theWaitSettlesWhereTheLoadIsTheBudget() {
        var load = Load()
        var levels: [Double] = []
        for look in 0..<300 {
            // Promptness costs the more the shorter the wait is; and the load is uneven.
            let share = 30 + 6 / (0.1 + load.gauge.wait) + (look % 2 == 0 ? 4 : -4)
            load.run(UInt64(share.rounded()), looks: 1)
            levels.append(load.gauge.wait)
        }
        // 30 + 6 / (0.1 + 0.2) = 50.
        #expect(levels.suffix(200).allSatisfy { (0.17...0.23).contains($0) })
    }

    @Test func previewsWaitWhileTheyAreThinnedOut() {
        var load = Load()
        load.run(10, looks: 4, isOverloaded: true)
        #expect(load.gauge.wait == 1)
    }

    @Test func afterALongRestNothingWaits() {
        var load = Load()
        load.run(90, looks: 10)
        load.gauge.look(used: .seconds(2), at: .start + .seconds(60))
        #expect(load.gauge.wait == 0)
    }

    @Test func looksInQuickSuccessionCountOnce() {
        var gauge = LoadGauge(budget: 50)
        gauge.look(used: .zero, at: .start)
        for step in 1...99 as ClosedRange<UInt64> {
            gauge.look(used: .milliseconds(step), at: .start + .milliseconds(step))
        }
        #expect(gauge.wait == 0)
        gauge.look(used: .milliseconds(100), at: .start + .milliseconds(100))
        #expect(gauge.wait == 0.25)
    }

    @Test func withoutABudgetPreviewsAlwaysWait() {
        var gauge = LoadGauge(budget: 0)
        gauge.look(used: .zero, at: .start)
        gauge.look(used: .zero, at: .start + .seconds(10))
        #expect(gauge.wait == 1)
    }
}
