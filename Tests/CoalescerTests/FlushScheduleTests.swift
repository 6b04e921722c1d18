import Testing
import Timing
import TimingTestKit

@testable import CoalescerCore

@Suite struct FlushScheduleTests {
    private var flushes = FlushSchedule()

    @Test mutating func theEarliestRoomDepartsFirst() {
        #expect(self.flushes.set(0, at: 30) == 30)
        #expect(self.flushes.set(1, at: 10) == 10)
        #expect(self.flushes.set(2, at: 20) == 20)
        #expect(self.flushes.next == 10)
        #expect(Array(self.flushes.first(3)) == [1, 2, 0])
        #expect(self.flushes.firstDue(at: 9) == nil)
        #expect(self.flushes.firstDue(at: 10) == 1)
    }

    @Test mutating func aMomentMovesForwardOnly() {
        _ = self.flushes.set(0, at: 20)
        #expect(self.flushes.set(0, at: 30) == 20)
        #expect(self.flushes.set(0, at: 10) == 10)
        #expect(self.flushes.next == 10)
        // The moment that no longer counts is not one to wake up for.
        self.flushes.cancel(0)
        #expect(self.flushes.next == nil)
    }

    @Test mutating func aCancelledRoomLeavesTheOthersInOrder() {
        _ = self.flushes.set(0, at: 10)
        _ = self.flushes.set(1, at: 20)
        self.flushes.cancel(0)
        #expect(self.flushes.next == 20)
        #expect(Array(self.flushes.first(8)) == [1])
        #expect(self.flushes.set(0, at: 30) == 30)
        #expect(Array(self.flushes.first(8)) == [1, 0])
    }

    @Test mutating func aRoomThatWasNeverSetHasNoFlush() {
        self.flushes.cancel(7)
        #expect(self.flushes.next == nil)
    }
}
