import CommitterCore
import Testing
import Timing
import TimingTestKit

struct RestClockTests {
    private let patience = RestClock.patience

    @Test func aNewCommitterRestsUntilItsFirstConnection() {
        var clock = RestClock()
        clock.observe(connections: 0, at: 5)
        #expect(clock.isResting(at: 5) && clock.deadline(after: 5) == nil)
        clock.observe(connections: 1, at: 6)
        #expect(!clock.isResting(at: 6) && clock.deadline(after: 6) == nil)
    }

    @Test func aMomentWithoutConnectionsIsWaitedFor() {
        var clock = RestClock()
        clock.observe(connections: 1, at: 10)
        clock.observe(connections: 0, at: 20)
        clock.observe(connections: 0, at: 30)
        #expect(clock.deadline(after: 30) == .start + 20 + self.patience)
        #expect(!clock.isResting(at: 19 + self.patience))
        #expect(clock.isResting(at: 20 + self.patience))
        clock.observe(connections: 2, at: 25 + self.patience)
        #expect(!clock.isResting(at: 25 + self.patience))
        // The next loss counts from its own beginning.
        clock.observe(connections: 0, at: .start + 3 * self.patience)
        #expect(!clock.isResting(at: .start + 4 * self.patience - 1))
    }
}
