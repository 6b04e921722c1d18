import Canvas
import CoalescerCore
import Testing
import Timing
import TimingTestKit
import Wire

@Suite struct ReplacingTests {
    /// A coalescer that has just sent a preview of each key, so that what comes next is held.
    private func busy() -> Coalescer {
        var coalescer = Coalescer.strict()
        for key in [("e", 1), ("e", 2), ("f", 1), ("caf\u{e9}", 1), ("cafe\u{301}", 1)] as [(Identifier, UInt64)] {
            #expect(coalescer.received(preview(key.0, by: key.1, gesture: 0), at: ms(1)).0 == .sent)
        }
        return coalescer
    }

    /// Each is complete for its gesture.
    @Test func theLatestOfAGestureReplacesThoseBeforeIt() {
        var coalescer = self.busy()
        _ = coalescer.received(preview(x: 1, y: 1), at: ms(2))
        _ = coalescer.received(preview(x: 1, y: 1, rotation: 90), at: ms(3))
        _ = coalescer.received(preview(x: 1, y: 5, rotation: 90), at: ms(4))
        #expect(coalescer.leaving(at: ms(17)) == [preview(x: 1, y: 5, rotation: 90, folded: 3, sinceLast: 16)])
        #expect(coalescer.counters.replaced == 2)
    }

    @Test func keysAreApart() {
        var coalescer = self.busy()
        _ = coalescer.received(preview("e", by: 1, x: 1), at: ms(2))
        _ = coalescer.received(preview("e", by: 2, x: 2), at: ms(2))
        _ = coalescer.received(preview("f", by: 1, x: 3), at: ms(2))
        _ = coalescer.received(preview("caf\u{e9}", by: 1, x: 4), at: ms(2))
        _ = coalescer.received(preview("cafe\u{301}", by: 1, x: 5), at: ms(2))
        #expect(coalescer.leaving(at: ms(17)).map(\.fields.positionX) == [1, 2, 3, 4, 5])
    }

    @Test func anOlderGestureIsDropped() {
        var coalescer = self.busy()
        _ = coalescer.received(preview(gesture: 3, x: 1), at: ms(2))
        #expect(coalescer.received(preview(gesture: 2, x: 2), at: ms(3)).0 == .stale)
        #expect(coalescer.leaving(at: ms(17)) == [preview(gesture: 3, x: 1, sinceLast: 16)])
        // Also when nothing is held any more.
        #expect(coalescer.received(preview(gesture: 2, x: 2), at: ms(140)) == (.stale, []))
        #expect(coalescer.received(preview(gesture: 3, x: 3), at: ms(141)).0 == .sent)
        #expect(coalescer.counters.stale == 2)
    }

    @Test func aNewSessionOfTheConnectionCountsItsGesturesAnew() {
        var coalescer = self.busy()
        _ = coalescer.received(preview(gesture: 8, x: 1), at: ms(2))
        coalescer.gestureEnded(end(gesture: 8))
        #expect(coalescer.received(preview(gesture: 1, x: 2, sid: "s2"), at: ms(4)).0 == .held)
        #expect(coalescer.leaving(at: ms(20)) == [preview(gesture: 1, x: 2, sinceLast: 19, sid: "s2")])
    }

    @Test func timeSinceTheLastOne() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview(x: 1), at: ms(10)).1.map(\.sinceLast) == [0])
        #expect(coalescer.received(preview(x: 2), at: ms(110.4)).1.map(\.sinceLast) == [100])
        #expect(coalescer.received(preview(x: 3), at: ms(210.9)).1.map(\.sinceLast) == [101])
        // At once, by credit: that is one millisecond, not "the first".
        #expect(coalescer.received(preview(x: 4), at: ms(239.9)).1.map(\.sinceLast) == [29])
        #expect(coalescer.received(preview(x: 5), at: ms(239.95)).1.map(\.sinceLast) == [1])
        // What the gateway says about it does not matter: it does not know what was sent. The sum is the 290 ms that
        // have passed, since the next one makes up for what was rounded.
        #expect(coalescer.received(preview(x: 6, sinceLast: 77), at: ms(300)).1.map(\.sinceLast) == [59])
    }
}
