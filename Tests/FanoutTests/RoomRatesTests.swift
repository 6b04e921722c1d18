import Testing
import Timing
import TimingTestKit

@testable import FanoutCore

@Suite struct RoomRatesTests {
    private var rates = RoomRates()
    private var now = Instant.start + .seconds(100)

    private mutating func pass(_ seconds: UInt64) { self.now = self.now + .seconds(seconds) }

    /// Previews for a number of seconds, ten each second, and an update at the end of each.
    private mutating func move(forSeconds seconds: Int) {
        for _ in 0..<seconds {
            for _ in 0..<10 {
                self.rates.advance(to: self.now)
                self.rates.previewReceived()
                self.now = self.now + .milliseconds(100)
            }
            self.rates.updateApplied(at: self.now)
        }
    }

    @Test mutating func steadyMovementHasItsRate() {
        self.move(forSeconds: 20)
        let rates = self.rates.perSecond(at: self.now)
        #expect((9...11).contains(rates.previews) && (0.7...1.3).contains(rates.updates), "\(rates)")
    }

    @Test mutating func ratesFallWhileNothingCalls() {
        self.move(forSeconds: 8)
        let before = self.rates.perSecond(at: self.now).previews
        self.pass(3)
        let after = self.rates.perSecond(at: self.now)
        #expect(after.previews < before / 2 && after.previews > 0)
        self.pass(8)
        #expect(self.rates.perSecond(at: self.now) == (0, 0))
    }

    @Test mutating func aRestBeginsAtZero() {
        self.move(forSeconds: 8)
        self.pass(60)
        self.rates.updateApplied(at: self.now)
        #expect(self.rates.perSecond(at: self.now) == (0.25, 0))
    }
}
