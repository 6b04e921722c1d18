import Testing
import Timing
import TimingTestKit

@testable import CoalescerCore

@Suite struct DeparturesTests {
    private var departures = Departures()

    @Test mutating func theEarliestRoomDepartsFirst() {
        #expect(self.departures.set(0, at: 30) == 30)
        #expect(self.departures.set(1, at: 10) == 10)
        #expect(self.departures.set(2, at: 20) == 20)
        #expect(self.departures.next == 10)
        #expect(Array(self.departures.first(3)) == [1, 2, 0])
        #expect(self.departures.firstDue(at: 9) == nil)
        #expect(self.departures.firstDue(at: 10) == 1)
    }

    @Test mutating func aMomentMovesForwardOnly() {
        _ = self.departures.set(0, at: 20)
        #expect(self.departures.set(0, at: 30) == 20)
        #expect(self.departures.set(0, at: 10) == 10)
        #expect(self.departures.next == 10)
        // The moment that no longer counts is not one to wake up for.
        self.departures.cancel(0)
        #expect(self.departures.next == nil)
    }

    @Test mutating func aCancelledRoomLeavesTheOthersInOrder() {
        _ = self.departures.set(0, at: 10)
        _ = self.departures.set(1, at: 20)
        self.departures.cancel(0)
        #expect(self.departures.next == 20)
        #expect(Array(self.departures.first(8)) == [1])
        #expect(self.departures.set(0, at: 30) == 30)
        #expect(Array(self.departures.first(8)) == [1, 0])
    }

    @Test mutating func aRoomThatWasNeverSetHasNoDeparture() {
        self.departures.cancel(7)
        #expect(self.departures.next == nil)
    }
}
