import GatewayCore
import Testing
import Timing

@Suite struct TurnPauseTests {
    private static let ms: UInt64 = 1_000_000

    /// The rests after turns that come so often, ns; the clock goes on while it rests.
    private func rests(every interval: UInt64, length: UInt64 = ms, turns: Int = 2000) -> [UInt64] {
        var pause = TurnPause(length: Nanoseconds(length))
        var now: UInt64 = 5_000_000_000
        return (0..<turns).map { _ in
            now += interval
            let rest = pause.turnEnded(at: Instant(nanoseconds: now)).count
            now += rest
            return rest
        }
    }

    @Test func itNeverRestsWhileFewTurnsCome() {
        // Few apps that commit one after the other.
        #expect(self.rests(every: 1_000_000_000 / 700).allSatisfy { $0 == 0 })
    }

    @Test func whileMuchComesTurnsKeepTheirDistance() {
        let rests = self.rests(every: 300_000)
        // A burst goes through, then each turn and its rest take a millisecond.
        #expect(rests.prefix(16).allSatisfy { $0 == 0 })
        #expect(rests.suffix(1000).allSatisfy { $0 == 700_000 })
    }

    @Test func aTurnThatTookLongIsFollowedByTheNextAtOnce() {
        var pause = TurnPause(length: .milliseconds(1))
        var now: UInt64 = Self.ms
        for _ in 0..<1000 { now += 100_000 + pause.turnEnded(at: Instant(nanoseconds: now + 100_000)).count }
        #expect(pause.turnEnded(at: Instant(nanoseconds: now + 100_000)) > .zero)
        now += 3 * Self.ms
        #expect(pause.turnEnded(at: Instant(nanoseconds: now)) == .zero)
    }

    @Test func whenItGetsQuietTheRestsEndAtOnce() {
        var pause = TurnPause(length: .milliseconds(1))
        var now: UInt64 = Self.ms
        for _ in 0..<1000 { now += 100_000 + pause.turnEnded(at: Instant(nanoseconds: now + 100_000)).count }
        now += 100 * Self.ms
        #expect((0..<16).map { pause.turnEnded(at: Instant(nanoseconds: now + $0)) }.allSatisfy { $0 == .zero })
    }

    @Test func withoutALengthThereAreNone() {
        #expect(self.rests(every: 1000, length: 0).allSatisfy { $0 == 0 })
    }
}
