import SocketIO
import Testing

private let second: UInt64 = 1_000_000_000

@Suite struct RateMeterTests {
    @Test func burstIsSpentAtOnceAndRefillsAtItsRate() {
        let limit = RateLimit(perSecond: 2, burst: 3)
        var meter = RateMeter()
        #expect((0..<4).map { _ in meter.spend(of: limit, at: second) } == [true, true, true, false])
        #expect(meter.spend(of: limit, at: second + second / 4) == false)
        #expect(meter.spend(of: limit, at: second + second / 2) == true)
        #expect(!meter.isUnused(limit, at: second + second))
        // Never more than the burst, and time that goes back gives nothing.
        #expect(meter.isUnused(limit, at: 100 * second))
        #expect((0..<4).map { _ in meter.spend(of: limit, at: 100 * second) } == [true, true, true, false])
        #expect(meter.spend(of: limit, at: 0) == false)
    }

    @Test func debtIsPaidWithTime() {
        let limit = RateLimit(perSecond: 10, burst: 5)
        var meter = RateMeter()
        meter.charge(5, to: limit, at: 7 * second)
        #expect(meter.paidUntil == 7 * second)
        meter.charge(20, to: limit, at: 7 * second)
        #expect(meter.paidUntil == 9 * second)
        #expect(meter.spend(of: limit, at: 9 * second) == false)
        #expect(meter.spend(of: limit, at: 9 * second + second / 10) == true)
    }

    @Test func absurdNumbersDoNotOverflow() {
        var meter = RateMeter()
        let slowest = RateLimit(every: .max, burst: .max)
        meter.charge(.max, to: slowest, at: .max)
        #expect(meter.paidUntil > second)
        #expect(RateLimit(perSecond: 0, burst: 0) == RateLimit(every: second, burst: 1))
    }

    @Test func bytesAndMessagesAreBothLimited() {
        let limits = ReadLimits(bytesPerSecond: 1000, messagesPerSecond: 80)
        var meter = ReadMeter()
        meter.charge(bytes: 1000, to: limits, at: second)
        meter.charge(messages: 10, to: limits, at: second)
        #expect(meter.paidUntil <= second)
        meter.charge(messages: 80, to: limits, at: second)
        #expect(meter.paidUntil == 2 * second)
        meter.charge(bytes: 3000, to: limits, at: second)
        #expect(meter.paidUntil == 4 * second)
        #expect(!meter.isUnused(limits, at: 4 * second))
        #expect(meter.isUnused(limits, at: 5 * second))
    }

    @Test func onlyTheLastPingBeyondTheAllowanceIsAnsweredAndAFloodCloses() {
        var pings = PingAllowance()
        #expect((0..<20).map { _ in pings.pingReceived(burst: 20, at: 0) }.allSatisfy { $0 == .answer })
        #expect((0..<100).map { _ in pings.pingReceived(burst: 20, at: 0) }.allSatisfy { $0 == .answerIfLast })
        #expect(pings.pingReceived(burst: 20, at: 0) == .close)
        #expect(pings.pingReceived(burst: 20, at: second) == .answer)
    }
}
