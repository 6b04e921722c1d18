import Testing
import Timing
import TimingTestKit

@testable import CoalescerCore

@Suite struct SharedDeparturesTests {
    private var departures = SharedDepartures()
    /// Cells of 4 ms, gatherings 2 ms apart.
    private let window = GatheringWindow(tick)

    @Test func laterDeparturesMoveToATimeThatManyRoomsShare() {
        #expect(self.departures.next(from: ms(17), at: ms(16), self.window) == ms(20))
        #expect(self.departures.next(from: ms(19), at: ms(16), self.window) == ms(20))
        #expect(self.departures.next(from: ms(20), at: ms(16), self.window) == ms(20))
    }

    @Test mutating func roomsThatMayDepartNowDoSoTogetherOrApart() {
        #expect(self.departures.next(from: ms(16), at: ms(16), self.window) == ms(16))
        self.departures.departed(at: ms(16))
        #expect(self.departures.next(from: ms(16), at: ms(16), self.window) == ms(16))
        #expect(self.departures.next(from: ms(17), at: ms(17), self.window) == ms(18))
        #expect(self.departures.next(from: ms(19), at: ms(19), self.window) == ms(19))
    }

    @Test mutating func withoutAWindowEachRoomDepartsWhenItMay() {
        self.departures.departed(at: ms(16))
        #expect(self.departures.next(from: ms(16.1), at: ms(16.1), GatheringWindow(0)) == ms(16.1))
    }
}
