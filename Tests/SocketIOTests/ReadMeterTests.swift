import SocketIO
import Testing

private let second: UInt64 = 1_000_000_000

@Suite struct ReadMeterTests {
    @Test func bytesAndMessagesAreBothLimited() {
        var meter = ReadMeter(bytesPerSecond: 1000, messagesPerSecond: 80)
        meter.charge(bytes: 1000, at: second)
        meter.charge(messages: 10, at: second)
        #expect(meter.paidUntil <= second)
        meter.charge(messages: 80, at: second)
        #expect(meter.paidUntil == 2 * second)
        meter.charge(bytes: 3000, at: second)
        #expect(meter.paidUntil == 4 * second)
        #expect(!meter.isUnused(at: 4 * second))
        #expect(meter.isUnused(at: 5 * second))
    }

    @Test func onlyTheLastPingBeyondTheAllowanceIsAnsweredAndAFloodCloses() {
        var pings = PingAllowance(burst: 20)
        #expect((0..<20).map { _ in pings.pingReceived(at: 0) }.allSatisfy { $0 == .answer })
        #expect((0..<100).map { _ in pings.pingReceived(at: 0) }.allSatisfy { $0 == .answerIfLast })
        #expect(pings.pingReceived(at: 0) == .close)
        #expect(pings.pingReceived(at: second) == .answer)
    }
}
