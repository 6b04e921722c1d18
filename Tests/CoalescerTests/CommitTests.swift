import Canvas
import CoalescerCore
import PipelineTestKit
import Testing
import Timing
import TimingTestKit
import Wire

@Suite struct CommitTests {
    @Test func aCommitCancelsItsGesture() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(x: 1), at: ms(1))
        _ = coalescer.received(preview(x: 2), at: ms(2))
        #expect(coalescer.commitReceived(commit(), at: ms(3)) == .cancelled)
        #expect(coalescer.nextDeadline == nil)
        #expect(coalescer.leaving(at: ms(17)) == [])
        #expect(coalescer.commitReceived(commit(), at: ms(18)) == .nothingHeld)
        #expect(coalescer.counters.cancelled == 1)
    }

    @Test func aCommitCancelsOlderGesturesToo() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(gesture: 2, x: 1), at: ms(1))
        _ = coalescer.received(preview(gesture: 2, x: 2), at: ms(2))
        #expect(coalescer.commitReceived(commit(gesture: 3), at: ms(3)) == .cancelled)
        #expect(coalescer.received(preview(gesture: 2, x: 3), at: ms(4)) == (.stale, []))
        #expect(coalescer.received(preview(gesture: 3, x: 3), at: ms(5)) == (.stale, []))
        #expect(coalescer.received(preview(gesture: 4, x: 3), at: ms(6)).0 == .held)
        #expect(coalescer.leaving(at: ms(17)) == [preview(gesture: 4, x: 3, sinceLast: 16)])
    }

    @Test func aNewerGestureOutlivesTheCommitOfAnOlder() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(gesture: 1, x: 1), at: ms(1))
        _ = coalescer.received(preview(gesture: 2, x: 2), at: ms(2))
        #expect(coalescer.commitReceived(commit(gesture: 1), at: ms(3)) == .nothingHeld)
        #expect(coalescer.leaving(at: ms(17)).map(\.gesture) == [2])
    }

    @Test func previewsThatWereOvertakenByTheirCommitAreDropped() {
        var coalescer = Coalescer.strict()
        // Commits have their own lane: the commit may be here before the last previews of its gesture.
        #expect(coalescer.commitReceived(commit(gesture: 5), at: ms(1)) == .nothingHeld)
        #expect(coalescer.received(preview(gesture: 5, x: 1), at: ms(2)) == (.stale, []))
        #expect(coalescer.received(preview(gesture: 6, x: 1), at: ms(3)).0 == .sent)
    }

    @Test func onlyTheKeyOfTheCommitIsConcerned() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview("x"), at: ms(1))
        _ = coalescer.received(preview("e", by: 2, x: 1), at: ms(2))
        _ = coalescer.received(preview("f", by: 1, x: 2), at: ms(2))
        _ = coalescer.received(preview("e", room: "q", by: 9, x: 0), at: ms(2))
        _ = coalescer.received(preview("e", room: "q", by: 1, x: 3), at: ms(2))
        #expect(coalescer.commitReceived(commit("e", by: 1), at: ms(3)) == .nothingHeld)
        #expect(coalescer.leaving(at: ms(18)).map(\.fields.positionX) == [1, 2, 3])
    }

    @Test func bothStreamsOfASessionEndItsGestures() {
        for session in ["s", "s.1", "s.12"] as [Identifier] {
            var coalescer = Coalescer.strict()
            _ = coalescer.received(preview(x: 1), at: ms(1))
            _ = coalescer.received(preview(x: 2), at: ms(2))
            #expect(coalescer.commitReceived(commit(session: session), at: ms(3)) == .cancelled)
        }
    }

    @Test func aClosedGestureIsRememberedForThirtySeconds() {
        var coalescer = Coalescer.strict()
        _ = coalescer.commitReceived(commit(gesture: 5), at: 0)
        coalescer.forgetSilent(at: ms(29_999))
        #expect(coalescer.received(preview(gesture: 5, x: 1), at: ms(29_999)) == (.stale, []))
        // That was a sign of life; then silence for twice the time.
        coalescer.forgetSilent(at: ms(30_000))
        #expect(coalescer.entryCount == 1)
        coalescer.forgetSilent(at: ms(60_000))
        #expect(coalescer.entryCount == 0)
        #expect(coalescer.roomCount == 0)
    }

    @Test func aCancelledKeyCanHoldAgainInTheSameTick() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview("other"), at: ms(1))
        for gesture in UInt64(1)...5 {
            #expect(coalescer.received(preview(gesture: gesture, x: 1), at: ms(2)).0 == .held)
            #expect(coalescer.commitReceived(commit(gesture: gesture), at: ms(3)) == .cancelled)
            #expect(coalescer.nextDeadline == nil)
        }
        #expect(coalescer.received(preview(gesture: 6, x: 9), at: ms(4)).0 == .held)
        #expect(coalescer.nextDeadline == ms(20))
        #expect(coalescer.leaving(at: ms(20)).map(\.gesture) == [6])
    }
}
