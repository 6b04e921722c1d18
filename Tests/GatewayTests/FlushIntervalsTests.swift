import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite("The flush intervals of rooms")
struct FlushIntervalsTests {
    /// Intervals of rooms that cost what they are said to as often as they may, under a clock that goes on window by window.
    private struct Scene {
        var intervals = FlushIntervals(late: .milliseconds(8), calm: .seconds(1))
        var now: UInt64 = 10_000
        var moment: Instant { Instant(milliseconds: self.now) }
        /// Deliveries of a room in a window without an interval.
        var costs: [Identifier: Int]
        /// What the gateway can deliver in a window.
        var capacity = Int.max
        var changes: [(at: UInt64, room: Identifier, interval: FlushInterval)] = []

        init(_ costs: [Identifier: Int], capacity: Int = .max) {
            self.costs = costs
            self.capacity = capacity
        }

        var load: Int { self.costs.keys.map(self.cost).reduce(0, +) }

        func cost(of room: Identifier) -> Int {
            self.costs[room, default: 0] * 16 / max(16, Int(self.intervals[room].rawValue))
        }

        /// Windows go by in which previews are late when there is more than the gateway can deliver.
        mutating func pass(_ windows: Int) {
            for _ in 0..<windows {
                let lateness = Nanoseconds.microseconds(self.load > self.capacity ? 20_000 : 500)
                for room in self.costs.keys.sorted() where self.cost(of: room) > 0 {
                    for _ in 0..<8 {
                        self.intervals.delivered(
                            self.cost(of: room) / 8, of: room, lateness: lateness, at: self.moment)
                    }
                }
                self.now += 100
                for room in self.intervals.review(at: self.moment) {
                    self.changes.append((self.now, room, self.intervals[room]))
                }
            }
        }

        func steps(of room: Identifier) -> [FlushInterval] { self.changes.filter { $0.room == room }.map(\.interval) }
    }

    @Test("a moment in which everything stood still slows no room down")
    func aMoment() {
        var scene = Scene(["a": 1000])
        for _ in 0..<20 {
            scene.pass(3)
            scene.capacity = 0
            scene.pass(1)
            scene.capacity = .max
        }
        #expect(scene.changes.isEmpty)
    }

    @Test("as long as previews are in time no room is slowed down, whatever it costs")
    func inTime() {
        var scene = Scene(["a": 100_000, "b": 1])
        scene.pass(100)
        #expect(scene.changes.isEmpty)
        #expect(scene.intervals.isIdle && scene.intervals.nextReview == nil)
        #expect(scene.intervals.lateness == .microseconds(500))
    }

    @Test("the loud room is slowed down step by step, the first in a few windows; the quiet one is not")
    func loud() {
        var scene = Scene(["loud": 1000, "quiet": 100], capacity: 400)
        scene.pass(8)
        #expect(scene.steps(of: "loud") == [.short, .middle] && scene.steps(of: "quiet") == [])
        #expect(scene.changes.first.map { $0.at <= 10_300 } == true)
        #expect(scene.load <= 400)
    }

    @Test("of many rooms those that cost at least the mean are slowed down, and no more than it takes")
    func many() {
        let rooms = (0..<100).map { (Identifier("room-\($0)"), 80 + $0 * 8) }
        var scene = Scene(Dictionary(uniqueKeysWithValues: rooms), capacity: 36_000)
        scene.pass(3)
        #expect(rooms.allSatisfy { scene.intervals[$0.0] == ($0.1 >= 480 ? .short : .none) })
        #expect(scene.load <= 36_000)
        scene.pass(5)
        #expect(scene.intervals.count(of: .short) == 50 && scene.intervals.count(of: .middle) == 0)
    }

    @Test("what is far too much ends with the longest interval, and the load gone all rooms come back step by step")
    func thereAndBack() {
        var scene = Scene(["a": 1000, "b": 1000], capacity: 0)
        scene.pass(20)
        #expect(scene.intervals["a"] == .long && scene.intervals["b"] == .long)
        #expect(scene.intervals.nextReview != nil)
        let changes = scene.changes.count
        scene.capacity = .max
        scene.changes = []
        scene.pass(60)
        #expect(scene.intervals.isIdle)
        let steps = scene.changes.filter { $0.room == "a" }
        #expect(steps.map(\.interval) == [.middle, .short, .none])
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $1.at - $0.at >= 1000 })
        #expect(scene.intervals.changes == UInt64(changes + scene.changes.count))
    }

    @Test("under a load that stays too high attempts become rarer; the next overload starts with the shortest pause")
    func patience() {
        var scene = Scene(["a": 1000], capacity: 700)
        scene.pass(1000)
        let tries = scene.changes.filter { $0.interval == .none }.map(\.at)
        let pauses = zip(tries, tries.dropFirst()).map { $1 - $0 }
        #expect(pauses.count >= 4)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $1 >= $0 })
        #expect(pauses.first.map { $0 < 8000 } == true && pauses.last.map { $0 > 16_000 } == true)
        scene.capacity = .max
        scene.pass(300)
        #expect(scene.intervals.isIdle)
        scene.capacity = 700
        scene.pass(5)
        #expect(!scene.intervals.isIdle)
        scene.capacity = .max
        scene.pass(25)
        #expect(scene.intervals.isIdle)
    }

    @Test(
        "a room in which nothing is shown for a second has no interval any more, however patient the gateway has become"
    )
    func silence() {
        var scene = Scene(["a": 1000, "b": 10], capacity: 300)
        scene.pass(1000)
        #expect(scene.intervals["a"] > .none)
        scene.costs["a"] = nil
        scene.pass(11)
        #expect(scene.intervals["a"] == .none && scene.intervals.isIdle)
        #expect(scene.changes.last?.room == "a" && scene.changes.last?.interval == FlushInterval.none)
    }

    @Test func aFewLatePreviewsAreNoOverload() {
        var intervals = FlushIntervals(late: .milliseconds(8), calm: .seconds(1))
        var changed: [Identifier] = []
        for now in stride(from: 10_000 as UInt64, to: 20_000, by: 350) {
            intervals.delivered(10, of: "r", lateness: .milliseconds(50), at: Instant(milliseconds: now))
            changed += intervals.review(at: Instant(milliseconds: now))
        }
        #expect(changed.isEmpty)
    }

    @Test("however late a few of many previews are, it is no overload as long as most are in time")
    func theFewOfMany() {
        var intervals = FlushIntervals(late: .milliseconds(8), calm: .seconds(1))
        for window in 0..<20 as Range<UInt64> {
            let now = Instant(milliseconds: 10_000 + window * 100)
            for place in 0..<20 {
                let lateness = Nanoseconds.milliseconds(place < 8 ? 500 : 1)
                intervals.delivered(10, of: "r", lateness: lateness, at: now)
            }
            #expect(intervals.review(at: now + .milliseconds(100)).isEmpty)
        }
        #expect(intervals.lateness > .milliseconds(100))
    }

    // MARK: When previews are due

    @Test("a slow room's previews are due an interval after the last, almost, and the first after quiet at once")
    func due() {
        var scene = Scene(["r": 1000], capacity: 500)
        scene.pass(4)
        #expect(scene.intervals["r"] == .short)
        scene.intervals.delivered(1, of: "r", lateness: .zero, at: scene.moment)
        let due = scene.moment + .milliseconds(33) / 8 * 7
        #expect(scene.intervals.due("r", at: scene.moment + .milliseconds(10)) == due)
        #expect(scene.intervals.due("r", at: scene.moment + .milliseconds(90)) == scene.moment + .milliseconds(90))
        #expect(
            scene.intervals.due("another", at: scene.moment + .milliseconds(10)) == scene.moment + .milliseconds(10))
        scene.intervals.forget("r")
        #expect(scene.intervals["r"] == .none)
    }

    @Test("a slow room whose previews wait is delivered a little earlier each time, until it is when they come")
    func earlier() {
        var scene = Scene(["r": 1000], capacity: 0)
        while scene.intervals["r"] != .long { scene.pass(1) }
        var flush = scene.moment
        var waits: [UInt64] = []
        for cycle in 1...8 as ClosedRange<UInt64> {
            scene.intervals.delivered(1, of: "r", lateness: .zero, at: flush)
            // They come 120 ms after the first flush, and every 200 ms from then on.
            let arrival = scene.moment + .milliseconds(120 + (cycle - 1) * 200)
            flush = scene.intervals.due("r", at: arrival)
            waits.append(flush.elapsed(since: arrival).milliseconds)
        }
        #expect(waits == [55, 30, 5, 0, 0, 0, 0, 0])
    }

    @Test("rooms of one interval are sent on at different moments, and a room keeps its own whenever it was sent")
    func moments() {
        let rooms = (0..<64).map { Identifier("room-\($0)") }
        var scene = Scene(Dictionary(uniqueKeysWithValues: rooms.map { ($0, 800) }), capacity: 0)
        while rooms.contains(where: { scene.intervals[$0] < .long }) { scene.pass(1) }
        for room in rooms { scene.intervals.sent(room, at: scene.moment) }
        let dues = rooms.map { scene.intervals.sendingDue($0, at: scene.moment) }
        // In each third of the interval there are some.
        #expect((3...4).contains(Set(dues.map { $0.milliseconds / 22 }).count))
        for (room, due) in zip(rooms, dues) {
            scene.intervals.sent(room, at: due + .milliseconds(20))
            #expect(scene.intervals.sendingDue(room, at: due + .milliseconds(30)) == due + .milliseconds(66))
        }
    }

    @Test("the last preview of a burst waits for no more than 250 ms at both ends together, whenever it comes")
    func lastOfABurst() {
        var scene = Scene(["r": 1000], capacity: 0)
        while scene.intervals["r"] != .long { scene.pass(1) }
        var longest = (sending: Nanoseconds.zero, delivering: Nanoseconds.zero)
        for sent in 0..<200 as Range<UInt64> {
            let last = scene.moment + .milliseconds(sent)
            scene.intervals.sent("r", at: last)
            scene.intervals.delivered(1, of: "r", lateness: .zero, at: last)
            for pause in 0..<400 as Range<UInt64> {
                let now = last + .milliseconds(pause)
                longest.sending = max(longest.sending, scene.intervals.sendingDue("r", at: now).elapsed(since: now))
                longest.delivering = max(longest.delivering, scene.intervals.due("r", at: now).elapsed(since: now))
            }
        }
        #expect(longest.sending > .milliseconds(60) && longest.delivering > .milliseconds(170))
        #expect(longest.sending + longest.delivering <= .milliseconds(250))
    }

    @Test func appsAreToldTheIntervalNeverLessThanWhenAllIsWell() {
        #expect(
            FlushInterval.allCases.map { $0.requested(usual: .milliseconds(16)).milliseconds } == [16, 33, 66, 200])
        #expect(
            FlushInterval.allCases.map { $0.requested(usual: .milliseconds(50)).milliseconds } == [50, 50, 66, 200])
    }
}
