import Canvas
import CoalescerCore
import Testing
import Timing
import TimingTestKit
import Wire

@Suite struct SendFailureTests {
    @Test func whatDidNotGetAwayLeavesWithTheNextTick() {
        var coalescer = Coalescer.strict()
        let (_, sent) = coalescer.received(preview(x: 1), at: ms(1))
        coalescer.sendFailed(sent[0], at: ms(1))
        #expect(coalescer.nextDeadline == ms(17))
        #expect(coalescer.leaving(at: ms(17)) == [preview(x: 1)])
        #expect(coalescer.counters.returned == 1)
    }

    @Test func whatCameSinceIsNewer() {
        var coalescer = Coalescer.strict()
        _ = coalescer.received(preview(x: 1, y: 1), at: ms(1))
        _ = coalescer.received(preview(x: 2, y: 2), at: ms(2))
        let sent = coalescer.leaving(at: ms(17))
        _ = coalescer.received(preview(x: 2, y: 3), at: ms(17))
        coalescer.sendFailed(sent[0], at: ms(17))
        #expect(coalescer.leaving(at: ms(33)) == [preview(x: 2, y: 3, folded: 2, sinceLast: 32)])
    }

    /// A link that takes a part in each tick gets everything in turn, and groups in their order.
    @Test func whatWasReturnedLeavesFirst() {
        var coalescer = Coalescer.strict()
        for element in ["a", "b", "c", "d"] as [Identifier] {
            _ = coalescer.received(preview(element, x: 1), at: ms(1))
        }
        let sent = coalescer.leaving(at: ms(17))
        #expect(sent.map(\.element) == ["b", "c", "d"])
        _ = coalescer.received(preview("a", x: 2), at: ms(18))
        for preview in sent.dropFirst().reversed() { coalescer.sendFailed(preview, at: ms(18)) }
        _ = coalescer.received(preview("b", x: 2), at: ms(19))
        #expect(coalescer.leaving(at: ms(50)).map(\.element) == ["c", "d", "a", "b"])
    }

    @Test func anEndCancelsItAsWell() {
        var coalescer = Coalescer.strict()
        let (_, sent) = coalescer.received(preview(x: 1), at: ms(1))
        coalescer.sendFailed(sent[0], at: ms(1))
        coalescer.gestureEnded(end())
        #expect(coalescer.leaving(at: ms(17)) == [] && coalescer.counters.cancelled == 1)
    }

    @Test func returnedPreviewOfAnOlderGestureIsOnlyCounted() {
        var coalescer = Coalescer.strict()
        let (_, sent) = coalescer.received(preview(gesture: 1, x: 1), at: ms(1))
        _ = coalescer.received(preview(gesture: 2, x: 2), at: ms(2))
        coalescer.sendFailed(sent[0], at: ms(3))
        // Nothing was delivered before it: it is the first.
        #expect(coalescer.leaving(at: ms(17)) == [preview(gesture: 2, x: 2, folded: 2)])
        // With nothing newer held, its time is over.
        coalescer.sendFailed(sent[0], at: ms(18))
        #expect(coalescer.nextDeadline == nil)
        #expect(coalescer.counters.stale == 1)
    }

    @Test func ofSeveralReturnedPreviewsTheNewestWins() {
        var coalescer = Coalescer()
        var sent = coalescer.received(preview(x: 1, y: 1), at: ms(1)).1
        sent += coalescer.received(preview(x: 2), at: ms(101.6)).1
        sent += coalescer.received(preview(x: 3), at: ms(101.7)).1
        #expect(sent.map(\.sinceLast) == [0, 101, 1])
        coalescer.sendFailed(sent[2], at: ms(102))
        coalescer.sendFailed(sent[1], at: ms(102))
        // The time is since the one that was delivered.
        #expect(coalescer.leaving(at: ms(133.7)) == [preview(x: 3, folded: 2, sinceLast: 133)])
    }

    @Test func everyPreviewIsAccountedFor() {
        var coalescer = Coalescer.strict()
        var output: [Preview] = []
        for step in 0..<200 {
            let now = Instant(nanoseconds: UInt64(step) * 3_000_000)
            _ = coalescer.previewReceived(preview(step % 3 == 0 ? "a" : "b", x: 1), at: now, into: &output)
            if step % 5 == 0, let last = output.popLast() { coalescer.sendFailed(last, at: now) }
        }
        coalescer.flush(at: ms(1000), into: &output)
        let counters = coalescer.counters
        #expect(counters.returned > 0)
        #expect(
            counters.received + counters.returned
                == counters.sent + counters.folded + counters.replaced + counters.cancelled + counters.stale)
    }
}
