import Testing

@testable import TouchSyncClientCore

/// The rest is in the transcript `clock.txt`.
@Suite struct ServerClockTests {
    @Test func itIsNotKnownBeforeAnAnswer() {
        #expect(ServerClock().time(at: 5) == nil)
    }

    @Test func theShortestWayOfTheLastEightCounts() {
        var clock = ServerClock()
        clock.answered(sentAt: 0, at: 2, time: 1001)
        for start in 1...7 {
            let now = Double(start) * 1000
            clock.answered(sentAt: now, at: now + 10, time: now + 1005 + 40)
            #expect(clock.time(at: now + 1e6) == now + 1e6 + 1000, "\(start)")
        }
        clock.answered(sentAt: 8000, at: 8010, time: 9045)
        #expect(clock.time(at: 1e6) == 1e6 + 1040)
    }

    @Test func anotherOffsetIsFollowedSlowlyInBothDirections() {
        for change in [100.0, -100] {
            var clock = ServerClock()
            clock.answered(sentAt: 0, at: 10, time: 1005)
            clock.answered(sentAt: 20, at: 20, time: 1020 + change)
            #expect(clock.time(at: 20) == 1020)
            #expect(clock.time(at: 1020) == 2020 + change / 2)
            #expect(clock.time(at: 2020) == 3020 + change)
            #expect(clock.time(at: 9020) == 10_020 + change)
            // A frame may be older than an answer.
            #expect(clock.time(at: 10) == 1010)
        }
    }

    @Test func itJumpsWhenItIsOffByMoreThanASecond() {
        for (change, shown) in [(1000.0, 1020.0), (1000.5, 2020.5), (-1000.5, 19.5)] {
            var clock = ServerClock()
            clock.answered(sentAt: 0, at: 10, time: 1005)
            clock.answered(sentAt: 20, at: 20, time: 1020 + change)
            #expect(clock.time(at: 20) == shown)
        }
    }
}
