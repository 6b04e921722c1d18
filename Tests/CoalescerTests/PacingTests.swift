import Canvas
import CoalescerCore
import Testing
import Wire

@Suite struct PacingTests {
    @Test func theFirstPreviewOfAQuietRoomLeavesAtOnce() {
        var coalescer = Coalescer()
        #expect(coalescer.deadline == nil)
        let (outcome, sent) = coalescer.received(preview(x: 1), at: ms(1000.3))
        #expect(outcome == .sent)
        #expect(sent == [preview(x: 1)])
        #expect(coalescer.deadline == nil)
    }

    @Test func laterOnesLeaveWithTheTick() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview(x: 1), at: ms(1)) == (.sent, [preview(x: 1)]))
        #expect(coalescer.received(preview(x: 2), at: ms(2)) == (.held, []))
        #expect(coalescer.deadline == ms(16))
        #expect(coalescer.received(preview(x: 3), at: ms(9)) == (.held, []))
        #expect(coalescer.deadline == ms(16))
        #expect(coalescer.leaving(at: ms(15.9)) == [])
        #expect(coalescer.leaving(at: ms(16)) == [preview(x: 3, folded: 2, sinceLast: 15)])
        #expect(coalescer.deadline == nil)
        #expect(coalescer.leaving(at: ms(32)) == [])
    }

    @Test func theTickCountsForTheRoomNotTheKey() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview("a", by: 1, x: 1), at: ms(1)).0 == .sent)
        #expect(coalescer.received(preview("b", by: 2, x: 1), at: ms(2)).0 == .held)
        #expect(coalescer.received(preview("a", by: 3, x: 1), at: ms(3)).0 == .held)
        #expect(coalescer.received(preview("a", by: 1, x: 2), at: ms(4)).0 == .held)
        // All movers of the room travel together, in the order in which they began to wait.
        let sent = coalescer.leaving(at: ms(16))
        #expect(sent.map(\.connection) == [2, 3, 1])
        #expect(sent.map(\.sinceLast) == [0, 0, 15])
    }

    @Test func oneTickServesAllRooms() {
        var coalescer = Coalescer()
        for (index, room) in (["r1", "r2", "r3"] as [Identifier]).enumerated() {
            #expect(coalescer.received(preview(room: room, x: 1), at: ms(Double(index))).0 == .sent)
            #expect(coalescer.received(preview(room: room, x: 2), at: ms(Double(index) + 3)).0 == .held)
        }
        #expect(coalescer.deadline == ms(16))
        #expect(coalescer.leaving(at: ms(16)).map(\.room) == ["r1", "r2", "r3"])
        #expect(coalescer.deadline == nil)
    }

    @Test func aRoomIsQuietOneTickAfterItWasLastSentTo() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview(x: 1), at: ms(10)).0 == .sent)
        #expect(coalescer.received(preview(x: 2), at: ms(25.9)).0 == .held)
        #expect(coalescer.leaving(at: ms(32)).count == 1)
        #expect(coalescer.received(preview(x: 3), at: ms(47.9)).0 == .held)
        #expect(coalescer.leaving(at: ms(48)).count == 1)
        #expect(coalescer.received(preview(x: 4), at: ms(64)).0 == .sent)
        #expect(coalescer.received(preview(room: "other", x: 4), at: ms(64)).0 == .sent)
    }

    @Test func aLateTickDoesNotLetARoomSendTwiceInItsCell() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview(room: "a", x: 1), at: ms(1)).0 == .sent)
        #expect(coalescer.received(preview(room: "a", x: 2), at: ms(2)).0 == .held)
        // The wake-up for 16 ms came at 40: the next event sends what was due, before anything else.
        let (outcome, sent) = coalescer.received(preview(room: "b", x: 1), at: ms(40))
        #expect(outcome == .sent)
        #expect(sent.map(\.room) == ["a", "b"])
        #expect(coalescer.received(preview(room: "b", x: 2), at: ms(41)) == (.held, []))
        #expect(coalescer.received(preview(room: "a", x: 3), at: ms(41)) == (.held, []))
        #expect(coalescer.deadline == ms(48))
    }

    @Test func flushSendsWhatIsHeld() {
        var coalescer = Coalescer()
        _ = coalescer.received(preview(x: 1), at: ms(1))
        _ = coalescer.received(preview(x: 2), at: ms(2))
        _ = coalescer.received(preview("f", x: 3), at: ms(2))
        var output: [Preview] = []
        coalescer.flush(at: ms(3), into: &output)
        #expect(output.map(\.fields.positionX) == [2, 3])
        #expect(coalescer.deadline == nil)
        coalescer.flush(at: ms(4), into: &output)
        #expect(output.count == 2)
    }

    @Test func theTickIsASetting() {
        var coalescer = Coalescer(limits: CoalescerLimits(tick: ms(100)))
        #expect(coalescer.received(preview(x: 1), at: ms(250)).0 == .sent)
        #expect(coalescer.received(preview(x: 2), at: ms(260)).0 == .held)
        #expect(coalescer.deadline == ms(300))
    }

    @Test func theAgeOfTheOldestHeld() {
        var coalescer = Coalescer()
        #expect(coalescer.oldestHeldAge(at: ms(5)) == 0)
        _ = coalescer.received(preview(x: 1), at: ms(1))
        _ = coalescer.received(preview("a", x: 2), at: ms(2))
        _ = coalescer.received(preview("b", x: 2), at: ms(4))
        #expect(coalescer.oldestHeldAge(at: ms(10)) == ms(8))
        #expect(coalescer.commitReceived(commit("a"), at: ms(10)) == .cancelled)
        #expect(coalescer.oldestHeldAge(at: ms(10)) == ms(6))
    }

    @Test func timesAtTheEndOfTheClockAreSurvived() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview(x: 1), at: .max - 1).0 == .sent)
        #expect(coalescer.received(preview(x: 2), at: .max - 1).0 == .held)
        #expect(coalescer.deadline == .max)
        #expect(coalescer.leaving(at: .max).count == 1)
    }
}
