import Testing
import Timing
import TimingTestKit

@testable import CoalescerCore

@Suite struct SharedFlushesTests {
    private var flushes = SharedFlushes()
    /// Cells of 4 ms, gatherings 2 ms apart.
    private let window = GatheringWindow(tick)

    @Test func laterFlushesMoveToATimeThatManyRoomsShare() {
        #expect(self.flushes.next(from: ms(17), at: ms(16), self.window) == ms(20))
        #expect(self.flushes.next(from: ms(19), at: ms(16), self.window) == ms(20))
        #expect(self.flushes.next(from: ms(20), at: ms(16), self.window) == ms(20))
    }

    @Test mutating func roomsThatMayDepartNowDoSoTogetherOrApart() {
        #expect(self.flushes.next(from: ms(16), at: ms(16), self.window) == ms(16))
        self.flushes.flushed(at: ms(16))
        #expect(self.flushes.next(from: ms(16), at: ms(16), self.window) == ms(16))
        #expect(self.flushes.next(from: ms(17), at: ms(17), self.window) == ms(18))
        #expect(self.flushes.next(from: ms(19), at: ms(19), self.window) == ms(19))
    }

    @Test mutating func withoutAWindowEachRoomDepartsWhenItMay() {
        self.flushes.flushed(at: ms(16))
        #expect(self.flushes.next(from: ms(16.1), at: ms(16.1), GatheringWindow(0)) == ms(16.1))
    }
}
