import Testing
import Timing
import TimingTestKit

@Suite struct RateMeterTests {
    private static let start = Instant.start + .seconds(1)

    @Test func aBurstIsSpentAtOnceAndReturnsAtItsRate() {
        var meter = RateMeter(perSecond: 2, burst: 3)
        #expect((0..<4).map { _ in meter.spend(at: Self.start) } == [true, true, true, false])
        #expect(meter.wait(at: Self.start) == .milliseconds(500))
        #expect(meter.spend(at: Self.start + .milliseconds(250)) == false)
        #expect(meter.spend(at: Self.start + .milliseconds(500)) == true)
        #expect(!meter.isUnused(at: Self.start + .seconds(1)))
        // Never more than the burst, and time that goes back gives nothing.
        let later = Instant.start + .seconds(100)
        #expect(meter.isUnused(at: later))
        #expect((0..<4).map { _ in meter.spend(at: later) } == [true, true, true, false])
        #expect(meter.spend(at: .start) == false)
    }

    @Test func whatIsMoreThanABurstCostsTheBurst() {
        var meter = RateMeter(perSecond: 10, burst: 5)
        #expect(meter.spend(100, at: Self.start) == true)
        #expect(meter.wait(for: 100, at: Self.start) == .milliseconds(500))
    }

    @Test func debtIsPaidWithTime() {
        var meter = RateMeter(perSecond: 10, burst: 5)
        meter.charge(5, at: Self.start)
        #expect(meter.paidUntil == Self.start)
        meter.charge(20, at: Self.start)
        #expect(meter.paidUntil == Self.start + .seconds(2))
        #expect(meter.spend(at: Self.start + .seconds(2)) == false)
        #expect(meter.spend(at: Self.start + .milliseconds(2100)) == true)
        meter.charge(10_000, at: Self.start + .seconds(3), longestDebt: .seconds(7))
        #expect(meter.paidUntil == Self.start + .seconds(10))
        meter.charge(-20_000, at: Self.start + .seconds(3))
        #expect(meter.isUnused(at: Self.start + .seconds(3)), "no more than a burst is given back")
    }

    @Test func aNanosecondPaysSeveralUnits() {
        var meter = RateMeter(perSecond: 3_000_000_000, burst: 1)
        meter.charge(3_000_000_001, at: Self.start)
        #expect(meter.paidUntil == Self.start + .seconds(1))
    }

    @Test func absurdNumbersDoNotOverflow() {
        var meter = RateMeter(perMinute: 0)
        meter.charge(.max, at: .never, longestDebt: .forever)
        meter.charge(.min, at: .start)
        #expect(meter.spend(.max, at: .start) == false)
        meter = RateMeter(perSecond: .max, burst: .max)
        meter.charge(.max, at: .start)
        #expect(meter.paidUntil < .never)
    }
}
