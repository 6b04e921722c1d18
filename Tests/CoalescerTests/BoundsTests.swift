import Canvas
import CoalescerCore
import Testing
import Timing
import TimingTestKit
import Wire

@Suite struct BoundsTests {
    @Test func keysAreBounded() {
        var coalescer = Coalescer(limits: CoalescerLimits(credit: 0, maxEntries: 100))
        var output: [Preview] = []
        for index in 0..<10_000 {
            let now = Instant(nanoseconds: UInt64(index) * 50_000)
            // The first one leaves, the second one waits.
            for _ in 0..<2 {
                coalescer.previewReceived(preview(Identifier("e\(index)"), x: Double(index)), at: now, into: &output)
            }
            #expect(coalescer.entryCount <= 100)
        }
        coalescer.flush(at: ms(10_000), into: &output)
        // Early rather than never: every key's newest value left.
        let left = output.compactMap(\.fields.positionX).sorted()
        #expect(left == (0..<20_000).map { Double($0 / 2) })
        #expect(coalescer.counters.early > 0)
        #expect(coalescer.counters.evicted == 9_900)
    }

    @Test func whoseMotionLeftEarlyWaitsATickAtMost() {
        var coalescer = Coalescer()
        var output: [Preview] = []
        // Several times within a tick, for lack of space.
        for step in 0..<20 {
            let now: Instant = ms(Double(step) / 2)
            _ = coalescer.previewReceived(preview("a", by: 1, x: Double(step)), at: now, into: &output)
            _ = coalescer.previewReceived(preview("b", by: 2, x: Double(step)), at: now, into: &output)
            coalescer.flush(at: now, into: &output)
        }
        #expect(output.count == 40)
        #expect(coalescer.received(preview("a", by: 1, x: 20), at: ms(10)).0 == .held)
        #expect(coalescer.received(preview("b", by: 2, x: 20), at: ms(10)).0 == .held)
        #expect(coalescer.leaving(at: ms(26)).map(\.element) == ["a", "b"])
    }

    @Test func aSilentKeyGoesBeforeABusyOne() {
        var coalescer = Coalescer(limits: CoalescerLimits(credit: 0, maxEntries: 2))
        _ = coalescer.received(preview("busy", room: "1", gesture: 7, x: 1), at: ms(0))
        _ = coalescer.received(preview("silent", room: "2", gesture: 7, x: 1), at: ms(1))
        _ = coalescer.received(preview("busy", room: "1", gesture: 7, x: 1), at: ms(20))
        _ = coalescer.leaving(at: ms(40))
        _ = coalescer.received(preview("new", room: "3", gesture: 7, x: 1), at: ms(41))
        #expect(coalescer.received(preview("busy", room: "1", gesture: 6, x: 1), at: ms(42)).0 == .stale)
        #expect(coalescer.received(preview("silent", room: "2", gesture: 6, x: 1), at: ms(43)).0 == .sent)
    }

    @Test func idleKeysAreForgotten() {
        var coalescer = Coalescer(limits: CoalescerLimits(credit: 0, memory: ms(1000)))
        for room in 0..<50 {
            for element in 0..<4 {
                _ = coalescer.received(
                    preview(Identifier("e\(element)"), room: Identifier("r\(room)"), x: 1), at: ms(0))
            }
        }
        #expect(coalescer.entryCount == 200)
        _ = coalescer.received(preview("e0", room: "r0", x: 2), at: ms(900))
        coalescer.forgetSilent(at: ms(1100))
        #expect(coalescer.entryCount == 1)
        coalescer.forgetSilent(at: ms(2100))
        #expect(coalescer.entryCount == 0)
        // Places are used again.
        #expect(coalescer.received(preview("e1", room: "r7", x: 3), at: ms(3000)).1.map(\.room) == ["r7"])
        #expect(coalescer.received(preview("e2", room: "r8", x: 4), at: ms(3000)).1.map(\.room) == ["r8"])
    }

    @Test func whatIsHeldIsNeverForgotten() {
        var coalescer = Coalescer(limits: CoalescerLimits(credit: 0, memory: ms(1)))
        for x in 1...2 { _ = coalescer.received(preview("a", x: Double(x)), at: ms(1)) }
        coalescer.forgetSilent(at: ms(10))
        coalescer.forgetSilent(at: ms(15))
        #expect(coalescer.heldCount == 1)
        #expect(coalescer.leaving(at: ms(17)).map(\.fields.positionX) == [2])
        coalescer.forgetSilent(at: ms(20))
        #expect(coalescer.entryCount == 0)
    }
}
