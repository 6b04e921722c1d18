import Canvas
import CoalescerCore
import PipelineTestKit
import Testing
import Timing
import TimingTestKit
import Wire

/// A commit ends a gesture: what is held of it leaves no more.
@Suite struct GestureEndTests {
    @Test func anEndCancelsWhatIsHeld() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(x: 1), at: ms(1))
        _ = coalescer.received(preview(x: 2), at: ms(2))
        coalescer.gestureEnded(end())
        #expect(coalescer.nextDeadline == nil)
        #expect(coalescer.leaving(at: ms(17)) == [])
        coalescer.gestureEnded(end())
        #expect(coalescer.counters.cancelled == 1)
    }

    @Test func anEndCancelsOlderGesturesToo() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(gesture: 2, x: 1), at: ms(1))
        _ = coalescer.received(preview(gesture: 2, x: 2), at: ms(2))
        coalescer.gestureEnded(end(gesture: 3))
        #expect(coalescer.received(preview(gesture: 4, x: 3), at: ms(6)).0 == .held)
        #expect(coalescer.leaving(at: ms(17)) == [preview(gesture: 4, x: 3, sinceLast: 16)])
    }

    @Test func aNewerGestureOutlivesTheEndOfAnOlder() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(gesture: 1, x: 1), at: ms(1))
        _ = coalescer.received(preview(gesture: 2, x: 2), at: ms(2))
        coalescer.gestureEnded(end(gesture: 1))
        #expect(coalescer.leaving(at: ms(17)).map(\.gesture) == [2])
    }

    @Test func onlyTheKeyOfTheEndIsConcerned() {
        var coalescer = Coalescer.strict()
        for key in [("e", "r", 2), ("f", "r", 1), ("e", "q", 9), ("e", "q", 1), ("e", "r", 1)]
            as [(Identifier, Identifier, UInt64)]
        {
            _ = coalescer.received(preview(key.0, room: key.1, by: key.2), at: ms(1))
        }
        _ = coalescer.received(preview("e", by: 2, x: 1), at: ms(2))
        _ = coalescer.received(preview("f", by: 1, x: 2), at: ms(2))
        _ = coalescer.received(preview("e", room: "q", by: 1, x: 3), at: ms(2))
        _ = coalescer.received(preview("e", by: 1, x: 4), at: ms(2))
        coalescer.gestureEnded(end("e", by: 1))
        coalescer.gestureEnded(end("f", by: 1, sid: "another"))
        #expect(coalescer.leaving(at: ms(18)).map(\.fields.positionX) == [1, 2, 3])
    }

    @Test func anEndOfWhatIsNotKnownCostsNothing() {
        var coalescer = Coalescer.strict()
        coalescer.gestureEnded(end(gesture: 5))
        #expect(coalescer.entryCount == 0)
    }

    @Test func aKeyIsForgottenAfterThirtySeconds() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(gesture: 5, x: 1), at: 0)
        coalescer.forgetSilent(at: ms(29_999))
        #expect(coalescer.received(preview(gesture: 4, x: 1), at: ms(29_999)) == (.stale, []))
        // That was a sign of life; then silence for twice the time.
        coalescer.forgetSilent(at: ms(30_000))
        #expect(coalescer.entryCount == 1)
        coalescer.forgetSilent(at: ms(60_000))
        #expect(coalescer.entryCount == 0)
    }

    @Test func aCancelledKeyCanHoldAgainInTheSameTick() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(), at: ms(1))
        for gesture in UInt64(1)...5 {
            #expect(coalescer.received(preview(gesture: gesture, x: 1), at: ms(2)).0 == .held)
            coalescer.gestureEnded(end(gesture: gesture))
            #expect(coalescer.nextDeadline == nil)
        }
        #expect(coalescer.received(preview(gesture: 6, x: 9), at: ms(4)).0 == .held)
        #expect(coalescer.nextDeadline == ms(17))
        #expect(coalescer.leaving(at: ms(17)).map(\.gesture) == [6])
    }
}
