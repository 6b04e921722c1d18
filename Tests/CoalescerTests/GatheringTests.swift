import CoalescerCore
import Testing
import Timing
import TimingTestKit
import Wire

/// How long previews of several publishers wait for each other.
@Suite struct GatheringTests {
    private static func coalescer(window: Nanoseconds) -> Coalescer {
        var coalescer = Coalescer()
        coalescer.gather(window)
        return coalescer
    }

    /// Two to five publishers at 30 or 60 previews a second, each at a time of its own.
    @Test(arguments: [2, 3, 5], [30.0, 60])
    func withoutAWindowNobodyWaits(publishers: Int, rate: Double) {
        var coalescer = Self.coalescer(window: .zero)
        for step in 0..<(publishers * 100) {
            let (round, publisher) = (step / publishers, step % publishers)
            let at = (Double(round) + Double(publisher * publisher) / 40) * 1000 / rate
            let (outcome, sent) = coalescer.received(preview(by: UInt64(publisher + 1)), at: ms(at))
            #expect(outcome == .sent && sent.count == 1, "\(step)")
        }
        #expect(coalescer.nextDeadline == nil)
    }

    @Test func withoutAWindowAKeyKeepsToItsRate() {
        var coalescer = Self.coalescer(window: .zero)
        #expect(coalescer.received(preview("a", by: 1, x: 1), at: ms(1)).0 == .sent)
        #expect(coalescer.received(preview("a", by: 1, x: 2), at: ms(2)).0 == .sent)
        #expect(coalescer.received(preview("a", by: 1, x: 3), at: ms(3)) == (.held, []))
        #expect(coalescer.nextDeadline == ms(17))
        // Another key of the room does not wait for it, and does not take it along.
        #expect(coalescer.received(preview("b", by: 2), at: ms(4)) == (.sent, [preview("b", by: 2)]))
        #expect(coalescer.nextDeadline == ms(17))
        #expect(coalescer.leaving(at: ms(17)) == [preview("a", by: 1, x: 3, sinceLast: 15)])
        #expect(coalescer.heldCount == 0 && coalescer.nextDeadline == nil)
    }

    @Test func aWindowBoundsTheWaitForOtherPublishers() {
        var coalescer = Self.coalescer(window: .milliseconds(4))
        var longest = Nanoseconds.zero
        for step in 0..<400 {
            // Two publishers at 30 a second, 10 ms apart.
            let at: Instant = ms(Double(step / 2) * 1000 / 30 + Double(step % 2) * 10)
            while let due = coalescer.nextDeadline, due <= at { _ = coalescer.leaving(at: due) }
            if coalescer.received(preview(by: UInt64(step % 2 + 1)), at: at).0 == .held {
                longest = max(longest, coalescer.nextDeadline?.elapsed(since: at) ?? .zero)
            }
        }
        #expect(longest <= .milliseconds(4))
    }

    /// A wider window saves flushes; that is what it is for.
    @Test func aWindowSavesFlushes() {
        func flushes(window: Nanoseconds) -> Int {
            var coalescer = Self.coalescer(window: window)
            var count = 0
            for step in 0..<600 {
                let at: Instant = ms(Double(step / 3) * 1000 / 60 + Double(step % 3) * 5)
                while let due = coalescer.nextDeadline, due <= at {
                    count += coalescer.leaving(at: due).isEmpty ? 0 : 1
                }
                let sent = coalescer.received(preview(by: UInt64(step % 3 + 1)), at: at).1
                count += sent.isEmpty ? 0 : 1
            }
            return count
        }
        #expect(flushes(window: .zero) == 600)
        #expect((200...320).contains(flushes(window: tick)))
        let between = flushes(window: tick / 2)
        #expect(between < 600 && between >= flushes(window: tick))
    }

    @Test func aWindowIsATickAtMost() {
        #expect(Coalescer().gatheringWindow == tick)
        #expect(Self.coalescer(window: 5 * tick).gatheringWindow == tick)
        #expect(Self.coalescer(window: .milliseconds(2)).gatheringWindow == .milliseconds(2))
    }
}
