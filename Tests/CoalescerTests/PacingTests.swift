import Canvas
import CoalescerCore
import Testing
import Timing
import TimingTestKit
import Wire

@Suite struct PacingTests {
    @Test func theFirstPreviewLeavesAtOnce() {
        var coalescer = Coalescer()
        #expect(coalescer.nextDeadline == nil)
        let (outcome, sent) = coalescer.received(preview(x: 1), at: ms(1000.3))
        #expect(outcome == .sent)
        #expect(sent == [preview(x: 1)])
        #expect(coalescer.nextDeadline == nil)
    }

    @Test func aLonePublisherNeverWaitsAtSixtyPerSecond() {
        var coalescer = Coalescer()
        // Not quite evenly, as networks have it: up to 6 ms late.
        for step in 0..<600 {
            let jitter = Double(step * 7 % 13) / 2
            let (outcome, _) = coalescer.received(preview(x: Double(step)), at: ms(Double(step) * 1000 / 60 + jitter))
            #expect(outcome == .sent, "\(step)")
        }
        #expect(coalescer.counters.sentAtOnce == 600)
    }

    @Test func whoSendsFasterThanTheTickIsFolded() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview(x: 1), at: ms(1)) == (.sent, [preview(x: 1)]))
        #expect(coalescer.received(preview(x: 2), at: ms(2)) == (.sent, [preview(x: 2, sinceLast: 1)]))
        #expect(coalescer.received(preview(x: 3), at: ms(3)) == (.held, []))
        // Two ticks are paid for by what was sent, one of them on credit.
        #expect(coalescer.nextDeadline == ms(17))
        #expect(coalescer.received(preview(x: 4), at: ms(9)) == (.held, []))
        #expect(coalescer.leaving(at: ms(16.9)) == [])
        #expect(coalescer.leaving(at: ms(17)) == [preview(x: 4, folded: 2, sinceLast: 15)])
        #expect(coalescer.nextDeadline == nil)
        #expect(coalescer.leaving(at: ms(33)) == [])
    }

    /// Two to five publishers at 30 or 60 previews a second, each at a time of its own.
    @Test(arguments: [2, 3, 5], [30.0, 60])
    func keysDoNotWaitForEachOther(publishers: Int, rate: Double) {
        var coalescer = Coalescer()
        for step in 0..<(publishers * 100) {
            let (round, publisher) = (step / publishers, step % publishers)
            let at = (Double(round) + Double(publisher * publisher) / 40) * 1000 / rate
            let (outcome, sent) = coalescer.received(preview(by: UInt64(publisher + 1)), at: ms(at))
            #expect(outcome == .sent && sent.count == 1, "\(step)")
        }
        #expect(coalescer.nextDeadline == nil)
    }

    @Test func aKeyThatWaitsTakesNoOtherAlong() {
        var coalescer = Coalescer()
        for x in 1...3 { _ = coalescer.received(preview("a", by: 1, x: Double(x)), at: ms(Double(x))) }
        #expect(coalescer.nextDeadline == ms(17))
        #expect(coalescer.received(preview("b", by: 2), at: ms(4)) == (.sent, [preview("b", by: 2)]))
        #expect(coalescer.nextDeadline == ms(17))
        #expect(coalescer.leaving(at: ms(17)) == [preview("a", by: 1, x: 3, sinceLast: 15)])
        #expect(coalescer.heldCount == 0 && coalescer.nextDeadline == nil)
    }

    /// What was queued before the cancelled one is due too early for what comes after it.
    @Test func aKeyWhosePreviewWasCancelledKeepsToItsRate() {
        var coalescer = Coalescer()
        for x in 1...2 { _ = coalescer.received(preview("first", x: Double(x)), at: ms(0)) }
        #expect(coalescer.received(preview("first", x: 3), at: ms(1)).0 == .held)
        for x in 1...3 { _ = coalescer.received(preview("a", by: 2, x: Double(x)), at: ms(2)) }
        coalescer.gestureEnded(end("a", by: 2))
        #expect(coalescer.nextDeadline == ms(16))
        // In time for its rate, behind the end of the gesture, but ahead of the queue.
        #expect(coalescer.leaving(at: ms(16)).map(\.element) == ["first"])
        #expect(coalescer.nextDeadline == nil)
        #expect(coalescer.received(preview("a", by: 2, gesture: 2, x: 4), at: ms(18)).0 == .sent)
        #expect(coalescer.received(preview("a", by: 2, gesture: 2, x: 5), at: ms(19)).0 == .held)
        #expect(coalescer.nextDeadline == ms(34))
    }

    @Test func roomsDoNotWaitForEachOther() {
        var coalescer = Coalescer.strict()
        for (index, room) in (["r1", "r2", "r3"] as [Identifier]).enumerated() {
            let time = Double(index) * 5
            #expect(coalescer.received(preview(room: room, x: 1), at: ms(time)).0 == .sent)
            #expect(coalescer.received(preview(room: room, x: 2), at: ms(time + 1)).0 == .held)
        }
        #expect(coalescer.nextDeadline == ms(16))
        #expect(coalescer.leaving(at: ms(16)).map(\.room) == ["r1"])
        #expect(coalescer.nextDeadline == ms(21))
        #expect(coalescer.leaving(at: ms(26)).map(\.room) == ["r2", "r3"])
        #expect(coalescer.nextDeadline == nil)
    }

    @Test func aLateFlushGivesNoMoreThanTheCredit() {
        var coalescer = Coalescer.strict()
        #expect(coalescer.received(preview(room: "a", x: 1), at: ms(1)).0 == .sent)
        #expect(coalescer.received(preview(room: "a", x: 2), at: ms(2)).0 == .held)
        // The wake-up for 17 ms came at 40: the next event sends what was due, before anything else.
        let (outcome, sent) = coalescer.received(preview(room: "b", x: 1), at: ms(40))
        #expect(outcome == .sent)
        #expect(sent.map(\.room) == ["a", "b"])
        #expect(coalescer.received(preview(room: "b", x: 2), at: ms(41)) == (.held, []))
        #expect(coalescer.received(preview(room: "a", x: 3), at: ms(41)) == (.held, []))
        #expect(coalescer.nextDeadline == ms(56))
    }

    @Test func flushSendsWhatIsHeld() {
        var coalescer = Coalescer.strict()
        for element in ["e", "f"] as [Identifier] {
            for x in 1...2 { _ = coalescer.received(preview(element, x: Double(x)), at: ms(1)) }
        }
        var output: [Preview] = []
        coalescer.flush(at: ms(3), into: &output)
        #expect(output.map(\.fields.positionX) == [2, 2])
        #expect(coalescer.nextDeadline == nil)
        coalescer.flush(at: ms(4), into: &output)
        #expect(output.count == 2)
    }

    @Test func theTickIsASetting() {
        var coalescer = Coalescer(limits: CoalescerLimits(tick: ms(100), credit: 0))
        #expect(coalescer.received(preview(x: 1), at: ms(250)).0 == .sent)
        #expect(coalescer.received(preview(x: 2), at: ms(260)).0 == .held)
        #expect(coalescer.nextDeadline == ms(350))
    }

    @Test func theAgeOfTheOldestHeld() {
        var coalescer = Coalescer.strict()
        #expect(coalescer.oldestHeldAge(at: ms(5)) == 0)
        for element in ["a", "b"] as [Identifier] { _ = coalescer.received(preview(element, x: 1), at: ms(1)) }
        _ = coalescer.received(preview("a", x: 2), at: ms(2))
        _ = coalescer.received(preview("b", x: 2), at: ms(4))
        #expect(coalescer.oldestHeldAge(at: ms(10)) == ms(8))
        coalescer.gestureEnded(end("a"))
        #expect(coalescer.oldestHeldAge(at: ms(10)) == ms(6))
    }

    @Test func timesAtTheEndOfTheClockAreSurvived() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview(x: 1), at: .never - 1).0 == .sent)
        for x in 2...3 { _ = coalescer.received(preview(x: Double(x)), at: .never - 1) }
        _ = coalescer.leaving(at: .never)
        #expect(coalescer.counters.sent == 3)
        #expect(coalescer.nextDeadline == nil)
    }
}
