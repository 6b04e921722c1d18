import SocketIO
import Testing

@Suite struct PacketBudgetTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func burstIsSpentAtOnceAndRefillsAtItsRate() {
        var budget = PacketBudget(burst: 3, at: Self.second)
        let spend = { (now: UInt64) in budget.spend(burst: 3, rate: 2, at: now) }
        #expect((0..<4).map { _ in spend(Self.second) } == [true, true, true, false])
        #expect(!spend(Self.second + Self.second / 4))
        #expect(spend(Self.second + Self.second / 2))
        // Never more than the burst, and time that goes back gives nothing.
        #expect((0..<4).map { _ in spend(100 * Self.second) } == [true, true, true, false])
        #expect(!spend(0))
    }

    @Test func onlyTheLastPingBeyondTheAllowanceIsAnsweredAndAFloodCloses() {
        var pings = PingAllowance()
        #expect((0..<20).map { _ in pings.pingReceived(burst: 20, at: 0) }.allSatisfy { $0 == .answer })
        #expect((0..<100).map { _ in pings.pingReceived(burst: 20, at: 0) }.allSatisfy { $0 == .answerIfLast })
        #expect(pings.pingReceived(burst: 20, at: 0) == .close)
        #expect(pings.pingReceived(burst: 20, at: Self.second) == .answer)
    }
}
