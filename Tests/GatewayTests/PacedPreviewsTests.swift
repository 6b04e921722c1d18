import Canvas
import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite("Previews of slowed rooms")
struct PacedPreviewsTests {
    private func preview(_ x: Double, room: Identifier = "r", element: Identifier = "e", gesture: UInt64 = 1) -> Preview
    {
        Preview(
            room: room, element: element, connection: 99, user: "u", sid: "s", gesture: gesture, folded: 1,
            sinceLast: 16, fields: TransformFields(positionX: x))
    }

    /// A gateway in whose eyes everything is late, and two members.
    private func scene() throws -> (Scene, ada: Slot, old: Slot) {
        var limits = GatewayLimits()
        limits.late = .zero
        limits.calm = .seconds(1)
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        let old = try scene.member("old", isV1: true)
        return (scene, ada, old)
    }

    /// A preview comes every 16 ms until the room has an interval.
    private func slowDown(_ scene: inout Scene, to interval: FlushInterval) {
        var x = 0.0
        for _ in 0..<1000 where scene.gateway.relay.rooms.intervals["r"] != interval {
            scene.now += 16
            x += 1
            scene.gateway.relay.rooms.turnBegan()
            scene.gateway.relay.previewsReceived(
                [self.preview(x)], at: scene.moment, lateness: .milliseconds(1), into: &scene.actions)
            scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
        }
        #expect(scene.gateway.relay.rooms.intervals["r"] == interval)
    }

    /// What the first member is shown.
    private func positions(_ actions: [GatewayAction]) -> [Double?] {
        actions.flatMap { action -> [Double?] in
            guard case .previews(let slots, let texts) = action, slots.contains(0) else { return [] }
            return texts.flatMap(\.previews).map(\.fields.positionX)
        }
    }

    @Test("apps are told of each change of the interval, except those of version 1.0; a join is answered with it")
    func told() throws {
        var (scene, ada, old) = try self.scene()
        self.slowDown(&scene, to: .middle)
        let actions = scene.take()
        let told = actions.texts(for: ada).filter { $0.contains("room:throttle") }
        #expect(
            told == [
                #"["room:throttle",{"roomId":"r","intervalMs":33}]"#,
                #"["room:throttle",{"roomId":"r","intervalMs":66}]"#,
            ])
        #expect(!actions.texts(for: old).contains { $0.contains("room:throttle") })
        let bob = try scene.connect("bob")
        scene.send(bob, "room:join", #"{"roomId":"r"}"#, ack: 5)
        scene.answerJoins(sid: "s-bob")
        #expect(scene.take().texts(for: bob).contains { $0.contains(#""throttleMs":66"#) })
        scene.send(bob, "room:join", #"{"roomId":"other"}"#, ack: 6)
        scene.answerJoins(sid: "s-bob-2")
        #expect(scene.take().texts(for: bob).contains { $0.contains(#""throttleMs":16"#) })
    }

    @Test("previews are folded to the interval; the first after a pause goes at once, the last always")
    func folded() throws {
        var (scene, _, _) = try self.scene()
        self.slowDown(&scene, to: .middle)
        scene.now += 66
        scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
        _ = scene.take()
        scene.now += 66
        let begin = scene.now
        for step in 0..<5 {
            scene.gateway.relay.rooms.turnBegan()
            scene.gateway.relay.previewsReceived(
                [self.preview(Double(100 + step))], at: scene.moment, lateness: .zero, into: &scene.actions)
            scene.now += 10
        }
        #expect(self.positions(scene.take()) == [100])
        // An eighth earlier than the interval says.
        #expect(scene.gateway.relay.nextDeadline().map { $0.milliseconds <= begin + 58 } == true)
        scene.gateway.relay.timeReached(Instant(milliseconds: begin + 57), into: &scene.actions)
        #expect(self.positions(scene.take()).isEmpty)
        scene.gateway.relay.timeReached(Instant(milliseconds: begin + 58), into: &scene.actions)
        let actions = scene.take()
        #expect(self.positions(actions) == [104])
        guard case .previews(_, let texts)? = actions.first else { return }
        #expect(texts.first?.previews.first?.folded == 4)
    }

    @Test("the latest preview waits for the interval, and is shown then; a commit does not wait")
    func lastValue() throws {
        var (scene, ada, _) = try self.scene()
        self.slowDown(&scene, to: .long)
        _ = scene.take()
        scene.gateway.relay.previewsReceived(
            [self.preview(777)], at: scene.moment, lateness: .milliseconds(1), into: &scene.actions)
        scene.gateway.relay.updateReceived(update(1, ids: ["another"]), into: &scene.actions)
        let commits = scene.take()
        #expect(self.positions(commits).isEmpty)
        #expect(commits.texts(for: ada).contains { $0.contains("element:transformed") })
        // Nothing comes any more: only the clock brings it back.
        var seen: [GatewayAction] = []
        for _ in 0..<1000 {
            guard let due = scene.gateway.relay.nextDeadline() else { break }
            scene.now = max(scene.now + 1, due.milliseconds)
            scene.gateway.relay.rooms.turnBegan()
            scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
            seen += scene.take()
        }
        #expect(scene.gateway.relay.rooms.intervals.isIdle && scene.gateway.relay.rooms.waitingCount == 0)
        #expect(self.positions(seen) == [777])
        let told = seen.texts(for: ada).filter { $0.contains("room:throttle") }
        #expect(told.last == #"["room:throttle",{"roomId":"r","intervalMs":16}]"#)
    }

    @Test(
        "members' previews are folded to the interval before they are sent on, and the last goes when its sender leaves"
    )
    func unsent() throws {
        var (scene, ada, _) = try self.scene()
        self.slowDown(&scene, to: .middle)
        scene.now += 66
        scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
        _ = scene.take()
        scene.send(ada, "element:transforming", PreviewTests.preview(9))
        // The room's own moment.
        scene.now = scene.gateway.relay.rooms.intervals.sendingDue("r", at: scene.moment).milliseconds + 1
        for rotation in 0..<4 {
            scene.send(ada, "element:transforming", PreviewTests.preview(rotation))
            scene.now += 10
        }
        #expect(scene.take().previews.map(\.fields.rotation) == [9, 0])
        let due = scene.gateway.relay.rooms.intervals.sendingDue("r", at: scene.moment)
        scene.gateway.relay.timeReached(due - .milliseconds(1), into: &scene.actions)
        #expect(scene.take().previews.isEmpty)
        scene.gateway.relay.timeReached(due, into: &scene.actions)
        let folded = scene.take().previews
        #expect(folded.map(\.fields.rotation) == [3] && folded.map(\.folded) == [3])
        #expect(scene.gateway.relay.rooms.intervals.sendingDue("r", at: due) == due + .milliseconds(66))
        scene.now = due.milliseconds + 4
        scene.send(ada, "element:transforming", PreviewTests.preview(6))
        #expect(scene.take().previews.isEmpty)
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#)
        #expect(scene.take().previews.map(\.fields.rotation) == [6])
    }

    @Test("a member's preview that waits is not sent on after its gesture ended, nor an older one after a newer")
    func unsentEnded() throws {
        var (scene, ada, _) = try self.scene()
        self.slowDown(&scene, to: .long)
        scene.send(ada, "element:transforming", PreviewTests.preview(1, gesture: 3))
        let update = update(1, ids: ["e"], sid: "s-ada", gesture: 3)
        scene.gateway.relay.updateReceived(update, into: &scene.actions)
        scene.send(ada, "element:transforming", PreviewTests.preview(2, gesture: 4))
        scene.send(ada, "element:transforming", PreviewTests.preview(3, gesture: 4))
        _ = scene.take()
        while let due = scene.gateway.relay.nextDeadline() {
            scene.now = max(scene.now + 1, due.milliseconds)
            scene.gateway.relay.rooms.turnBegan()
            scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
        }
        let sent = scene.take().previews
        #expect(sent.map(\.fields.rotation) == [3] && sent.map(\.gesture) == [4])
        scene.send(ada, "element:transforming", PreviewTests.preview(4, gesture: 4))
        #expect(scene.take().previews.map(\.fields.rotation) == [4])
    }

    @Test func aPreviewThatWaitsIsNotShownAfterTheEndOfItsGesture() throws {
        for end in 0..<3 {
            var (scene, _, _) = try self.scene()
            self.slowDown(&scene, to: .long)
            _ = scene.take()
            scene.gateway.relay.previewsReceived(
                [self.preview(777, gesture: 1)], at: scene.moment, lateness: .milliseconds(1), into: &scene.actions)
            switch end {
            case 0:
                scene.gateway.relay.updateReceived(update(1, ids: ["e"], gesture: 1), into: &scene.actions)
            case 1:
                scene.gateway.relay.updateReceived(update(1, event: .deleted, ids: ["e"]), into: &scene.actions)
            default:
                let gesture = GestureEnd(room: "r", element: "e", user: "u", sid: "s", gesture: 1)
                scene.gateway.relay.rooms.gestureEnded(
                    GestureEnded(gesture: gesture, seq: 1, json: Array("{}".utf8)), into: &scene.actions)
            }
            scene.gateway.relay.previewsReceived(
                [self.preview(5, element: "f")], at: scene.moment, lateness: .milliseconds(1), into: &scene.actions)
            while let due = scene.gateway.relay.nextDeadline() {
                scene.now = max(scene.now + 1, due.milliseconds)
                scene.gateway.relay.rooms.turnBegan()
                scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
            }
            #expect(self.positions(scene.take()) == [5])
        }
    }

    @Test func whatWaitsOfARoomGoesWithItsLastMember() throws {
        var (scene, ada, old) = try self.scene()
        self.slowDown(&scene, to: .long)
        scene.gateway.relay.previewsReceived(
            [self.preview(777)], at: scene.moment, lateness: .milliseconds(1), into: &scene.actions)
        #expect(scene.gateway.relay.rooms.waitingCount > 0)
        scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        scene.gateway.disconnected(old, at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.relay.rooms.waitingCount == 0 && scene.gateway.relay.rooms.intervals.isIdle)
        #expect(scene.gateway.relay.nextDeadline() == nil)
    }

    @Test("a newcomer that knows more than the room's stream does not get what waited before")
    func newcomer() throws {
        var (scene, _, _) = try self.scene()
        self.slowDown(&scene, to: .long)
        scene.gateway.relay.previewsReceived(
            [self.preview(777)], at: scene.moment, lateness: .milliseconds(1), into: &scene.actions)
        _ = scene.take()
        let bob = try scene.connect("bob")
        scene.send(bob, "room:join", #"{"roomId":"r"}"#, ack: 5)
        scene.answerJoins(sid: "s-bob", seq: 3)
        let actions = scene.take()
        #expect(self.positions(actions) == [777])
        #expect(!actions.texts(for: bob).contains { $0.contains("element:transforming") })
        #expect(scene.gateway.relay.rooms.waitingCount == 0)
    }

    @Test("a turn delivers to so many members; further rooms have the next turns, in order, with their latest")
    func turns() throws {
        var limits = GatewayLimits()
        limits.previewWrites = 2
        var scene = Scene(limits: limits)
        for room in ["r", "q", "p"] as [Identifier] {
            for user in ["ada", "bob"] {
                _ = try scene.member(user, of: room, sid: Identifier("s-\(user)-\(room)"))
            }
        }
        func come(_ x: Double, _ scene: inout Scene) {
            scene.gateway.relay.rooms.turnBegan()
            let previews = (["r", "q", "p"] as [Identifier]).map { self.preview(x, room: $0) }
            scene.gateway.relay.previewsReceived(previews, at: scene.moment, lateness: .zero, into: &scene.actions)
        }
        func rooms(_ actions: [GatewayAction]) -> [String] {
            actions.flatMap { action -> [String] in
                guard case .previews(_, let texts) = action else { return [] }
                return texts.flatMap(\.previews).map { "\($0.room)\(Int($0.fields.positionX ?? 0))" }
            }
        }
        come(1, &scene)
        #expect(rooms(scene.take()) == ["r1"])
        #expect(scene.gateway.relay.nextDeadline() == scene.moment)
        // Those that wait come first.
        come(2, &scene)
        #expect(rooms(scene.take()) == [])
        for expected in ["q2", "p2", "r2"] {
            scene.gateway.relay.rooms.turnBegan()
            scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
            #expect(rooms(scene.take()) == [expected])
        }
        #expect(scene.gateway.relay.rooms.waitingCount == 0 && scene.gateway.relay.nextDeadline() == nil)
    }

    /// A turn delivers to two members; five are in the room r and one in q.
    private func largeRoom() throws -> (Scene, members: [Slot]) {
        var limits = GatewayLimits()
        limits.previewWrites = 2
        var scene = Scene(limits: limits)
        let members = try (1...5).map { try scene.member("user-\($0)", sid: Identifier("s-\($0)")) }
        _ = try scene.member("ada", of: "q", sid: "s-q")
        return (scene, members)
    }

    /// The preview that each member gets, as its room and position.
    private func deliveries(_ actions: [GatewayAction]) -> [String] {
        actions.flatMap { action -> [String] in
            guard case .previews(let members, let texts) = action else { return [] }
            let shown = texts.flatMap(\.previews).map { "\($0.room)\(Int($0.fields.positionX ?? 0))" }
            return members.flatMap { _ in shown }
        }
    }

    @Test("a room of more members takes several turns; other rooms and its own next previews wait for them")
    func largeRooms() throws {
        var (scene, _) = try self.largeRoom()
        scene.gateway.relay.rooms.turnBegan()
        scene.gateway.relay.previewsReceived(
            [self.preview(1), self.preview(1, room: "q")], at: scene.moment, lateness: .zero, into: &scene.actions)
        var turns = [self.deliveries(scene.take())]
        #expect(scene.gateway.relay.nextDeadline() == scene.moment)
        scene.gateway.relay.rooms.turnBegan()
        scene.gateway.relay.previewsReceived([self.preview(2)], at: scene.moment, lateness: .zero, into: &scene.actions)
        #expect(scene.take().isEmpty)
        while scene.gateway.relay.nextDeadline() != nil, turns.count < 9 {
            scene.gateway.relay.rooms.turnBegan()
            scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
            turns.append(self.deliveries(scene.take()))
        }
        #expect(turns == [["r1", "r1"], ["r1", "r1"], ["r1"], ["q1", "r2", "r2"], ["r2", "r2"], ["r2"]])
    }

    @Test("what else happens in a room comes after the previews that some of its members have")
    func largeRoomsKeepTheirOrder() throws {
        let changes: [(inout Scene, Slot) -> Void] = [
            { scene, _ in scene.gateway.relay.updateReceived(update(1), into: &scene.actions) },
            { scene, member in scene.gateway.disconnected(member, at: scene.moment, into: &scene.actions) },
            { scene, member in scene.send(member, "room:leave", #"{"roomId":"r"}"#) },
        ]
        for change in changes {
            var (scene, members) = try self.largeRoom()
            scene.gateway.relay.rooms.turnBegan()
            scene.gateway.relay.previewsReceived(
                [self.preview(1)], at: scene.moment, lateness: .zero, into: &scene.actions)
            #expect(self.deliveries(scene.take()).count == 2)
            change(&scene, members[0])
            let actions = scene.take()
            #expect(self.deliveries(actions).count == 3)
            guard case .previews = actions.first else {
                Issue.record("something else came first")
                return
            }
            #expect(scene.gateway.relay.nextDeadline() == nil)
        }
    }
}

@Suite("Previews of a busy gateway")
struct BusyPreviewsTests {
    /// What the member is shown as time goes on: when, and the positions of one write.
    private func writes(share: Double, arrivals: [(at: UInt64, x: Double)]) throws -> [(
        at: UInt64, positions: [Double?]
    )] {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.gateway.relay.rooms.previewsWait(share)
        let begin = scene.now + 1000
        var writes: [(at: UInt64, positions: [Double?])] = []
        for step in 0...60 as ClosedRange<UInt64> {
            scene.now = begin + step
            scene.gateway.relay.rooms.turnBegan()
            for (at, x) in arrivals where at == step {
                let preview = Preview(
                    room: "r", element: Identifier("e\(x)"), connection: 99, user: "u", sid: "s", gesture: 1, folded: 1,
                    sinceLast: 16, fields: TransformFields(positionX: x))
                scene.gateway.relay.previewsReceived([preview], at: scene.moment, lateness: .zero, into: &scene.actions)
            }
            scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
            for action in scene.take() {
                guard case .previews(let slots, let texts) = action, slots.contains(ada) else { continue }
                writes.append((step, texts.flatMap(\.previews).map(\.fields.positionX)))
            }
        }
        return writes
    }

    @Test("the publishers of a room wait for each other, for no longer than the load asks")
    func together() throws {
        let arrivals = [(0, 1), (5, 2), (9, 3), (40, 4)] as [(at: UInt64, x: Double)]
        let prompt = try self.writes(share: 0, arrivals: arrivals)
        #expect(prompt.map(\.at) == [0, 5, 9, 40] && prompt.map(\.positions) == [[1], [2], [3], [4]])
        let waiting = try self.writes(share: 1, arrivals: arrivals)
        #expect(waiting.map(\.at) == [0, 16, 40] && waiting.map(\.positions) == [[1], [2, 3], [4]])
        let half = try self.writes(share: 0.5, arrivals: arrivals)
        #expect(half.map(\.at) == [0, 8, 16, 40] && half.map(\.positions) == [[1], [2], [3], [4]])
    }

    @Test("when the load is over nothing waits any more")
    func over() throws {
        var scene = Scene()
        _ = try scene.member("ada")
        scene.gateway.relay.rooms.previewsWait(1)
        for share in [1, 0] as [Double] {
            scene.gateway.relay.rooms.previewsWait(share)
            let preview = Preview(
                room: "r", element: "e", connection: 99, user: "u", sid: "s", gesture: 1, folded: 1, sinceLast: 16,
                fields: TransformFields(positionX: share))
            scene.gateway.relay.previewsReceived([preview], at: scene.moment, lateness: .zero, into: &scene.actions)
        }
        // The second one comes at the moment of the first, and does not wait.
        #expect(scene.take().count { if case .previews = $0 { true } else { false } } == 2)
        #expect(scene.gateway.relay.nextDeadline() == nil)
    }
}
