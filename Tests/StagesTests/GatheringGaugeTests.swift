import Stages
import Testing
import Timing
import TimingTestKit

/// When previews begin to wait for each other, and when they cease to.
@Suite struct GatheringGaugeTests {
    private static let pause = Nanoseconds.milliseconds(200)

    /// Lets a process use a share of a core for some looks at its load.
    private struct Load {
        var gauge = GatheringGauge(budget: 50)
        private var now = Instant.start
        private var used = Nanoseconds.zero

        init() { self.gauge.look(used: .zero, at: .start) }

        /// - Parameter share: hundredths of a core.
        mutating func run(_ share: UInt64, looks: Int, isOverloaded: Bool = false) {
            for _ in 0..<looks {
                self.now += GatheringGaugeTests.pause
                self.used = self.used + GatheringGaugeTests.pause * share / 100
                self.gauge.look(used: self.used, isOverloaded: isOverloaded, at: self.now)
            }
        }
    }

    @Test func previewsDoNotWaitWithinTheBudget() {
        var load = Load()
        load.run(49, looks: 100)
        #expect(load.gauge.level == .none)
    }

    @Test func theWaitRisesWithTheLoadAndFallsAgain() {
        var load = Load()
        var levels: [UInt16] = []
        // Up, a while there, down into the band where nothing changes, and down.
        for share in [20, 60, 60, 60, 60, 60, 60, 60, 60, 60, 48, 44, 48, 43, 30] as [UInt64] {
            load.run(share, looks: 1)
            levels.append(load.gauge.level.thousandths)
        }
        #expect(levels == [0, 125, 250, 375, 500, 625, 750, 875, 1000, 1000, 1000, 1000, 1000, 900, 800])
        load.run(30, looks: 8)
        #expect(load.gauge.level == .none)
    }

    @Test func aSuddenLoadIsAnsweredTwiceAsFast() {
        var load = Load()
        load.run(90, looks: 4)
        #expect(load.gauge.level == .full)
    }

    @Test func aLoadIsSuddenFromOneAndAHalfTimesTheBudgetOn() {
        var load = Load()
        load.run(74, looks: 1)
        #expect(load.gauge.level == GatheringLevel(125))
        load.run(76, looks: 1)
        #expect(load.gauge.level == GatheringLevel(375))
    }

    /// Where the wait saves enough, it stays: no swinging between the two.
    @Test func theWaitSettlesWhereItIsLongEnough() {
        var load = Load()
        var levels: [UInt16] = []
        for _ in 0..<100 {
            // Promptness costs up to a third of a core more than gathering does.
            load.run(63 - UInt64(load.gauge.level.thousandths) / 30, looks: 1)
            levels.append(load.gauge.level.thousandths)
        }
        #expect(Set(levels.suffix(90)).count == 1)
        #expect(load.gauge.level > .none && load.gauge.level < .full)
    }

    @Test func previewsWaitWhileTheyAreThinnedOut() {
        var load = Load()
        load.run(10, looks: 4, isOverloaded: true)
        #expect(load.gauge.level == .full)
    }

    @Test func afterALongRestNothingWaits() {
        var load = Load()
        load.run(90, looks: 10)
        load.gauge.look(used: .seconds(2), at: .start + .seconds(60))
        #expect(load.gauge.level == .none)
    }

    @Test func looksInQuickSuccessionCountOnce() {
        var gauge = GatheringGauge(budget: 50)
        gauge.look(used: .zero, at: .start)
        for step in 1...99 as ClosedRange<UInt64> {
            gauge.look(used: .milliseconds(step), at: .start + .milliseconds(step))
        }
        #expect(gauge.level == .none)
        gauge.look(used: .milliseconds(100), at: .start + .milliseconds(100))
        #expect(gauge.level == GatheringLevel(250))
    }

    @Test func withoutABudgetPreviewsAlwaysWait() {
        var gauge = GatheringGauge(budget: 0)
        gauge.look(used: .zero, at: .start)
        gauge.look(used: .zero, at: .start + .seconds(10))
        #expect(gauge.level == .full)
    }
}
