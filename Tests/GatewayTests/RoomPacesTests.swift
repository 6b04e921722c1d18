import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite("The pace of rooms")
struct RoomPacesTests {
    /// Paces of rooms that cost what they are said to as long as they may, under a clock that goes on window by window.
    private struct Scene {
        var paces = RoomPaces(late: .milliseconds(8), calm: .seconds(1))
        var now: UInt64 = 10_000
        var moment: Instant { Instant(milliseconds: self.now) }
        /// Deliveries of a room in a window at full pace.
        var costs: [Identifier: Int]
        /// What the gateway can deliver in a window.
        var capacity = Int.max
        /// What commits take.
        var commitTime = Nanoseconds.milliseconds(2)
        var changes: [(UInt64, Identifier, Pace)] = []

        init(_ costs: [Identifier: Int], capacity: Int = .max) {
            self.costs = costs
            self.capacity = capacity
        }

        var load: Int { self.costs.map { self.cost(of: $0.key) }.reduce(0, +) }

        func cost(of room: Identifier) -> Int {
            let interval = self.paces.pace(of: room).interval
            return interval.map { self.costs[room, default: 0] * 16 / max(16, Int($0.milliseconds)) } ?? 0
        }

        /// Windows go by in which previews are late when there is more than the gateway can deliver.
        mutating func pass(_ windows: Int) {
            for _ in 0..<windows {
                let lateness = Nanoseconds.microseconds(self.load > self.capacity ? 20_000 : 500)
                for room in self.costs.keys.sorted() where self.cost(of: room) > 0 {
                    self.paces.arrived(room, folded: 1, members: self.cost(of: room))
                    for _ in 0..<8 {
                        self.paces.flushed(
                            room, deliveries: self.cost(of: room) / 8, lateness: lateness, at: self.moment)
                    }
                }
                for room in self.costs.keys where self.paces.pace(of: room) == .commitsOnly {
                    self.paces.arrived(room, folded: 1, members: self.costs[room, default: 0] / 12)
                }
                for _ in 0..<8 { self.paces.commitAnswered(after: self.commitTime) }
                self.now += 100
                for room in self.paces.review(at: self.moment) {
                    self.changes.append((self.now, room, self.paces.pace(of: room)))
                }
            }
        }
    }

    @Test("commits that stay slow take no more than about half of the previews: what is left cannot be the reason")
    func commitsOfASlowDisk() {
        var scene = Scene(["a": 30_000, "b": 30_000, "c": 30_000])
        scene.pass(10)
        scene.commitTime = .milliseconds(40)
        scene.pass(100)
        #expect(scene.load < 60_000 && scene.load >= 40_000)
        let (pace, changes) = (scene.paces.pace(of: "a"), scene.changes.count)
        scene.pass(300)
        #expect(scene.paces.pace(of: "a") == pace && scene.changes.count == changes)
        scene.commitTime = .milliseconds(2)
        scene.pass(100)
        #expect(scene.paces.isIdle)
    }

    @Test("the second window of slow commits slows rooms down, as one of late previews does")
    func commitsAreSlow() {
        var scene = Scene(["a": 30_000])
        scene.pass(10)
        scene.commitTime = .milliseconds(40)
        scene.pass(1)
        #expect(scene.paces.isIdle)
        scene.pass(1)
        #expect(!scene.paces.isIdle)
    }

    @Test("a moment in which everything stood still slows no room down")
    func aMoment() {
        var scene = Scene(["a": 1000], capacity: .max)
        for _ in 0..<20 {
            scene.pass(3)
            scene.capacity = 0
            scene.pass(1)
            scene.capacity = .max
        }
        #expect(scene.changes.isEmpty)
    }

    @Test("a step up that was too much is taken back at once, and only that")
    func takenBack() {
        let rooms = (0..<10).map { (Identifier("room-\($0)"), 800) }
        var scene = Scene(Dictionary(uniqueKeysWithValues: rooms), capacity: 6000)
        scene.pass(10)
        let paces = rooms.map { scene.paces.pace(of: $0.0) }
        scene.capacity = scene.load
        let (begin, changes) = (scene.now, scene.changes.count)
        while scene.changes.count == changes { scene.pass(1) }
        #expect(scene.now - begin <= 1500 && scene.load > scene.capacity)
        scene.pass(2)
        #expect(rooms.map { scene.paces.pace(of: $0.0) } == paces)
        scene.pass(35)
        #expect(rooms.map { scene.paces.pace(of: $0.0) } == paces)
    }

    @Test("rooms of one pace are sent on at different moments, and a room keeps its own whenever it was sent")
    func moments() {
        let rooms = (0..<64).map { Identifier("room-\($0)") }
        var scene = Scene(Dictionary(uniqueKeysWithValues: rooms.map { ($0, 800) }), capacity: 0)
        while rooms.contains(where: { scene.paces.pace(of: $0) < .slow }) { scene.pass(1) }
        let slow = rooms.filter { scene.paces.pace(of: $0) == .slow }
        for room in slow { scene.paces.sent(room, at: scene.moment) }
        let dues = slow.map { scene.paces.sendingDue($0, at: scene.moment) }
        // In each quarter of the interval there are some.
        #expect(slow.count > 32)
        #expect(dues.allSatisfy { (100..<300).contains(($0 - .milliseconds(scene.now)).milliseconds) })
        #expect(Set(dues.map { $0.milliseconds / 50 }).count == 4 || Set(dues.map { $0.milliseconds / 50 }).count == 5)
        for (room, due) in zip(slow, dues) {
            scene.paces.sent(room, at: due + .milliseconds(20))
            #expect(scene.paces.sendingDue(room, at: due + .milliseconds(30)) == due + .milliseconds(200))
        }
    }

    @Test("a slow room whose previews wait is delivered a little earlier each time, until it is when they come")
    func earlier() {
        var scene = Scene(["r": 1000], capacity: 0)
        while scene.paces.pace(of: "r") != .slow { scene.pass(1) }
        var flush = scene.moment
        var waits: [UInt64] = []
        for cycle in 1...8 as ClosedRange<UInt64> {
            scene.paces.flushed("r", deliveries: 1, lateness: .zero, at: flush)
            // They come 120 ms after the first flush, and every 200 ms from then on.
            let arrival = scene.moment + .milliseconds(120 + (cycle - 1) * 200)
            flush = scene.paces.due("r", at: arrival)
            waits.append(flush.elapsed(since: arrival).milliseconds)
        }
        #expect(waits == [55, 30, 5, 0, 0, 0, 0, 0])
    }

    @Test("as long as previews are in time no room is slowed down, whatever it costs")
    func inTime() {
        var scene = Scene(["a": 100_000, "b": 1])
        scene.pass(100)
        #expect(scene.changes.isEmpty)
        #expect(scene.paces.isIdle && scene.paces.nextReview == nil)
        #expect(scene.paces.lateness == .microseconds(500))
    }

    @Test func theRoomThatCostsMostIsSlowedDownTheQuietOneIsNot() {
        var scene = Scene(["busy": 1000, "quiet": 100], capacity: 400)
        scene.pass(20)
        #expect(scene.paces.pace(of: "busy") == .quarter)
        #expect(scene.paces.pace(of: "quiet") == .full)
        // Step by step, the first within a few windows.
        #expect(scene.changes.map(\.2).prefix(2) == [.half, .quarter])
        #expect(scene.changes.first.map { $0.0 <= 10_300 } == true)
    }

    @Test func ofManyEqualRoomsNoMoreAreSlowedDownAtOnceThanItTakes() {
        let rooms = (0..<100).map { (Identifier("room-\($0)"), 80) }
        var scene = Scene(Dictionary(uniqueKeysWithValues: rooms), capacity: 6400)
        scene.pass(10)
        let slowed = scene.paces.count(at: .half)
        #expect((40...60).contains(slowed))
        #expect(scene.paces.count(at: .quarter) == 0)
        #expect(scene.load <= 6400)
    }

    @Test("what is far too much ends with commits alone, and the load gone all rooms come back by themselves")
    func thereAndBack() {
        var scene = Scene(["a": 1000, "b": 1000], capacity: 0)
        while scene.load > 0 { scene.pass(1) }
        #expect(scene.now < 13_000)
        #expect(scene.paces.pace(of: "a") == .commitsOnly && scene.paces.pace(of: "b") == .commitsOnly)
        #expect(scene.paces.due("a", at: scene.moment) == .never)
        #expect(scene.paces.nextReview != nil)
        scene.capacity = .max
        let changes = scene.changes.count
        scene.changes = []
        scene.pass(150)
        #expect(scene.paces.isIdle)
        // No step is left out.
        let steps = scene.changes.filter { $0.1 == "a" }
        #expect(steps.map(\.2) == [.slow, .quarter, .half, .full])
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $1.0 - $0.0 >= 1000 })
        #expect(scene.paces.changes == UInt64(changes + scene.changes.count))
    }

    @Test func aLoadThatStaysTooHighIsTriedAgainEverMoreRarely() {
        var scene = Scene(["a": 1000], capacity: 700)
        scene.pass(1000)
        let tries = scene.changes.filter { $0.2 == .full }.map(\.0)
        let pauses = zip(tries, tries.dropFirst()).map { $1 - $0 }
        #expect(pauses.count >= 4)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $1 >= $0 })
        #expect(pauses.first.map { $0 < 8000 } == true && pauses.last.map { $0 > 16_000 } == true)
        // Its load gone it is let go for good, and the next overload begins with a short patience again.
        scene.capacity = .max
        scene.pass(300)
        #expect(scene.paces.isIdle)
        scene.capacity = 700
        scene.pass(5)
        scene.capacity = .max
        scene.pass(25)
        #expect(scene.paces.isIdle)
    }

    @Test func theLoadGoneRoomsComeBackAtOnceHoweverOftenTheyWereTriedBefore() {
        var scene = Scene(["a": 1000], capacity: 700)
        scene.pass(1000)
        scene.costs["a"] = 100
        scene.pass(20)
        #expect(scene.paces.isIdle)
        // From commits alone too.
        scene = Scene(["a": 1000, "b": 1000], capacity: 0)
        while scene.load > 0 { scene.pass(1) }
        scene.costs = ["a": 100, "b": 100]
        scene.capacity = .max
        scene.pass(20)
        #expect(scene.paces.isIdle)
    }

    @Test func aFewLatePreviewsAreNoOverload() {
        var paces = RoomPaces(late: .milliseconds(8), calm: .seconds(1))
        var changed: [Identifier] = []
        for now in stride(from: 10_000 as UInt64, to: 20_000, by: 350) {
            paces.flushed("r", deliveries: 10, lateness: .milliseconds(50), at: Instant(milliseconds: now))
            changed += paces.review(at: Instant(milliseconds: now))
        }
        #expect(changed.isEmpty)
    }

    @Test("however late a few of many previews are, it is no overload as long as most are in time")
    func theFewOfMany() {
        var paces = RoomPaces(late: .milliseconds(8), calm: .seconds(1))
        for window in 0..<20 as Range<UInt64> {
            let now = Instant(milliseconds: 10_000 + window * 100)
            for place in 0..<20 {
                let lateness = Nanoseconds.milliseconds(place < 8 ? 500 : 1)
                paces.flushed("r", deliveries: 10, lateness: lateness, at: now)
            }
            #expect(paces.review(at: now + .milliseconds(100)).isEmpty)
        }
        #expect(paces.lateness > .milliseconds(100))
    }

    @Test("a slow room's previews are due an interval after the last, almost, and the first after quiet at once")
    func due() {
        var scene = Scene(["r": 1000], capacity: 500)
        scene.pass(4)
        #expect(scene.paces.pace(of: "r") == .half)
        scene.paces.flushed("r", deliveries: 1, lateness: .zero, at: scene.moment)
        let due = scene.moment + .milliseconds(33) / 8 * 7
        #expect(scene.paces.due("r", at: scene.moment + .milliseconds(10)) == due)
        #expect(scene.paces.due("r", at: scene.moment + .milliseconds(90)) == scene.moment + .milliseconds(90))
        #expect(scene.paces.due("another", at: scene.moment + .milliseconds(10)) == scene.moment + .milliseconds(10))
        scene.paces.forget("r")
        #expect(scene.paces.pace(of: "r") == .full)
    }

    @Test func appsAreToldTheIntervalNeverLessThanWhenAllIsWell() {
        #expect(
            Pace.allCases.map { $0.requestedInterval(usual: .milliseconds(16)).milliseconds } == [
                16, 33, 66, 200, 1000,
            ])
        #expect(
            Pace.allCases.map { $0.requestedInterval(usual: .milliseconds(50)).milliseconds } == [
                50, 50, 66, 200, 1000,
            ])
    }
}
