import Canvas
import CoalescerCore
import Testing
import Timing
import TimingTestKit
import Wire

@Suite struct PacingTests {
    @Test func theFirstPreviewOfAQuietRoomLeavesAtOnce() {
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

    @Test func publishersOfARoomTravelTogether() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview("a", by: 1, x: 1), at: ms(0)).0 == .sent)
        // Two move now: each waits for the other.
        #expect(coalescer.received(preview("b", by: 2, x: 1), at: ms(6)) == (.held, []))
        let (outcome, sent) = coalescer.received(preview("a", by: 1, x: 2), at: ms(16))
        #expect(outcome == .sent)
        #expect(sent.map(\.connection) == [2, 1])
        // And so on, in one flush for each round of theirs.
        for round in 2..<50 {
            let begin = Double(round) * 16
            let first = coalescer.received(preview("b", by: 2, x: 1), at: ms(begin - 10)).1
            let second = coalescer.received(preview("a", by: 1, x: 1), at: ms(begin)).1
            if round > 4 { #expect([first.count, second.count] == [2, 0]) }
        }
    }

    @Test func aRoomDepartsBeforeTheWidestGapOfItsRound() {
        var coalescer = Coalescer()
        var (waited, flushes) = (0, 0)
        // As it begins, b waits 12 ms for a; the other way round it is 4 ms.
        _ = coalescer.received(preview("a", by: 1), at: ms(0))
        for round in 1...100 {
            let begin = Double(round) * 16
            let first = coalescer.received(preview("b", by: 2), at: ms(begin - 12))
            let second = coalescer.received(preview("a", by: 1), at: ms(begin))
            guard round > 10 else { continue }
            flushes += (first.1.isEmpty ? 0 : 1) + (second.1.isEmpty ? 0 : 1)
            waited += second.0 == .held ? 1 : 0
        }
        #expect(flushes == 90)
        #expect(waited == 90)
    }

    @Test func noPublisherWaitsForAnotherLongerThanATick() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview("a", by: 1), at: ms(0)).0 == .sent)
        #expect(coalescer.received(preview("b", by: 2), at: ms(5)).0 == .held)
        // Rounded down to a quarter of a tick, so that one wake-up serves many rooms.
        #expect(coalescer.nextDeadline == ms(20))
        #expect(coalescer.leaving(at: ms(20)).map(\.connection) == [2])
        #expect(coalescer.nextDeadline == nil)
    }

    @Test func theFirstPreviewAfterATickOfQuietWaitsForNobody() {
        var coalescer = Coalescer()
        // Two publishers at 30 a second, half a period apart: never both within a tick.
        for step in 0..<60 {
            let element: Identifier = step % 2 == 0 ? "a" : "b"
            let (outcome, _) = coalescer.received(
                preview(element, by: UInt64(step % 2 + 1), x: Double(step)), at: ms(Double(step) * 16.6))
            #expect(outcome == .sent, "\(step)")
        }
        // Within a tick of the last one, the others are waited for.
        #expect(coalescer.received(preview("a", by: 1), at: ms(59 * 16.6 + 10)).0 == .held)
    }

    @Test func roomsOfSeveralPublishersDepartWithTheSameEnvelopeOrShareAMoment() {
        var coalescer = Coalescer()
        let rooms: [(Identifier, Double)] = [("r", 0), ("s", 0), ("t", 1), ("u", 1.5)]
        for (room, begin) in rooms {
            _ = coalescer.received(preview("a", room: room, by: 1), at: ms(begin))
            _ = coalescer.received(preview("b", room: room, by: 2), at: ms(begin + 5))
        }
        let outcomes = rooms.map { room, begin in
            coalescer.received(preview("a", room: room, by: 1), at: ms(begin + 17)).0
        }
        // The first two come at once; the others a little later, and wait for an eighth of a tick after those.
        #expect(outcomes == [.sent, .sent, .held, .held])
        #expect(coalescer.nextDeadline == ms(19))
        #expect(Set(coalescer.leaving(at: ms(19)).map(\.room)) == ["t", "u"])
        #expect(coalescer.nextDeadline == nil)
    }

    @Test func afterATickOfQuietWhoIsSoonFollowedWaits() {
        var coalescer = Coalescer()
        var flushes = 0
        // Two publishers at 30 a second, 10 ms apart: there is more than a tick of quiet in each round.
        for round in 1...60 {
            let begin = Double(round) * 1000 / 30
            let first = coalescer.received(preview("a", by: 1), at: ms(begin)).1
            let second = coalescer.received(preview("b", by: 2), at: ms(begin + 10)).1
            if round > 10 { flushes += (first.isEmpty ? 0 : 1) + (second.isEmpty ? 0 : 1) }
        }
        #expect(flushes == 50)
        // Somebody who comes no more is not waited for longer than a tick.
        #expect(coalescer.received(preview("a", by: 1), at: ms(2034)).0 == .held)
        #expect(coalescer.nextDeadline == ms(2050))
    }

    @Test func whoStoppedIsNotWaitedForAnyMore() {
        var coalescer = Coalescer()
        _ = coalescer.received(preview("a", by: 1), at: ms(0))
        _ = coalescer.received(preview("b", by: 2), at: ms(5))
        var held = 0
        for step in 0..<12 {
            let time: Instant = ms(20 + Double(step) * 18)
            held += coalescer.received(preview("a", by: 1), at: time).0 == .held ? 1 : 0
            _ = coalescer.leaving(at: time + tick)
        }
        // The second publisher counts for one to two spans of 40 ms.
        #expect((1...6).contains(held))
        #expect(coalescer.received(preview("a", by: 1), at: ms(300)).0 == .sent)
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

    @Test func theNewestMayChangeWhichRoomIsFirst() {
        var coalescer = Coalescer()
        _ = coalescer.received(preview("a", room: "slow", by: 1), at: ms(0))
        _ = coalescer.received(preview("b", room: "slow", by: 2), at: ms(7))
        #expect(coalescer.nextDeadline == ms(20))
        for time in [1.0, 2, 8] { _ = coalescer.received(preview(room: "fast", x: time), at: ms(time)) }
        #expect(coalescer.nextDeadline == ms(17))
        #expect(coalescer.leaving(at: ms(17)).map(\.room) == ["fast"])
        #expect(coalescer.nextDeadline == ms(20))
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
        _ = coalescer.received(preview(x: 1), at: ms(1))
        _ = coalescer.received(preview(x: 2), at: ms(2))
        _ = coalescer.received(preview("f", x: 3), at: ms(2))
        var output: [Preview] = []
        coalescer.flush(at: ms(3), into: &output)
        #expect(output.map(\.fields.positionX) == [2, 3])
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
        var coalescer = Coalescer()
        #expect(coalescer.oldestHeldAge(at: ms(5)) == 0)
        _ = coalescer.received(preview(x: 1), at: ms(1))
        _ = coalescer.received(preview("a", x: 2), at: ms(2))
        _ = coalescer.received(preview("b", x: 2), at: ms(4))
        #expect(coalescer.oldestHeldAge(at: ms(10)) == ms(8))
        coalescer.gestureEnded(end("a"))
        #expect(coalescer.oldestHeldAge(at: ms(10)) == ms(6))
    }

    @Test func timesAtTheEndOfTheClockAreSurvived() {
        var coalescer = Coalescer()
        #expect(coalescer.received(preview(x: 1), at: .never - 1).0 == .sent)
        _ = coalescer.received(preview("f", x: 2), at: .never - 1)
        _ = coalescer.received(preview("g", x: 3), at: .never - 1)
        _ = coalescer.leaving(at: .never)
        #expect(coalescer.counters.sent == 3)
        #expect(coalescer.nextDeadline == nil)
    }
}
