import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite("The room's stream")
struct StreamTests {
    @Test("a gap is noticed, asked for once, and nothing after it is delivered before it is filled")
    func gap() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.gateway.relay.updateReceived(update(2), into: &scene.actions)
        scene.gateway.relay.updateReceived(update(3), into: &scene.actions)
        let asked = scene.take()
        #expect(asked.count == 1)
        guard case .fanout(_, .interest(let interest))? = asked.first else {
            Issue.record("the gap was not asked for")
            return
        }
        #expect(interest.position.seq == 0)
        for seq in UInt64(1)...3 { scene.gateway.relay.updateReceived(update(seq), into: &scene.actions) }
        scene.gateway.relay.positionReceived(
            RoomPosition(room: "r", position: Position(epoch: "e", seq: 3), isReset: false), at: scene.moment,
            into: &scene.actions)
        #expect(scene.take().texts(for: ada).map { $0.contains(#""seq":"#) } == [true, true, true])
        scene.gateway.relay.updateReceived(update(3), into: &scene.actions)
        #expect(scene.take().isEmpty)
    }

    @Test func aQuestionThatIsNotAnsweredIsAskedAgain() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.gateway.relay.updateReceived(update(2), into: &scene.actions)
        let first = scene.take()
        for _ in 0..<5 { scene.advance(1000) }
        #expect(scene.take().isEmpty)
        for _ in 0..<3 { scene.advance(1000) }
        #expect(scene.take() == first)
        scene.gateway.relay.updateReceived(update(1), into: &scene.actions)
        scene.gateway.relay.positionReceived(
            RoomPosition(room: "r", position: Position(epoch: "e", seq: 1), isReset: false), at: scene.moment,
            into: &scene.actions)
        #expect(scene.take().texts(for: ada).count == 1)
        for _ in 0..<20 { scene.advance(1000) }
        #expect(scene.take().isEmpty && scene.gateway.nextDeadline == nil)
    }

    @Test("a place that cannot be filled is told as room:resync, and nothing numbered follows until the next join")
    func reset() throws {
        var scene = Scene()
        let ada = try scene.member("ada", seq: 5)
        scene.gateway.relay.positionReceived(
            RoomPosition(room: "r", position: Position(epoch: "e", seq: 90), isReset: true), at: scene.moment,
            into: &scene.actions)
        #expect(scene.take().texts(for: ada) == [#"["room:resync",{"roomId":"r","from":6,"to":90}]"#])
        scene.gateway.relay.updateReceived(update(91), into: &scene.actions)
        #expect(scene.take().isEmpty)
    }

    @Test("after a change of fan-outs the new one is told who is here and up to where the stream came")
    func moved() throws {
        var scene = Scene()
        _ = try scene.member("ada", seq: 5)
        scene.gateway.fanoutMoved(shards: [Shard.of(room: "r")], hadOwner: true, at: scene.moment, into: &scene.actions)
        let actions = scene.take()
        guard case .fanout(_, .interest(let fresh))? = actions.first,
            case .formerFanout(_, .interest(let old))? = actions.last
        else {
            Issue.record("the fan-outs were not told: \(actions)")
            return
        }
        #expect(fresh.position.seq == 5)
        #expect(fresh.occupants.map(\.member.user) == ["ada"])
        #expect(old.occupants.isEmpty)
    }

    @Test("a join that moves to another fan-out is taken back from the former one, which would stream for ever")
    func movedJoin() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        guard case .fanout(_, .join(let join))? = scene.take().first else {
            Issue.record("no join was sent")
            return
        }
        let shard = Shard.of(room: "r")
        scene.gateway.fanoutMoved(shards: [shard], hadOwner: true, at: scene.moment, into: &scene.actions)
        #expect(
            scene.take() == [.formerFanout(shard: shard, .interest(Self.nobody)), .fanout(shard: shard, .join(join))])
        scene.gateway.fanoutMoved(shards: [shard], hadOwner: false, at: scene.moment, into: &scene.actions)
        #expect(scene.take() == [.fanout(shard: shard, .join(join))])
    }

    /// What a former fan-out is told of the room "r".
    private static let nobody = RoomInterest(room: "r", position: Position(epoch: "", seq: 0), occupants: [])

    @Test("the former fan-out forgets a room whose members were reset and have not joined again")
    func movedAfterReset() throws {
        var scene = Scene()
        _ = try scene.member("ada", seq: 5)
        let anew = RoomPosition(room: "r", position: Position(epoch: "another", seq: 3), isReset: true)
        scene.gateway.relay.positionReceived(anew, at: scene.moment, into: &scene.actions)
        _ = scene.take()
        let shard = Shard.of(room: "r")
        scene.gateway.fanoutMoved(shards: [shard], hadOwner: true, at: scene.moment, into: &scene.actions)
        #expect(scene.take() == [.formerFanout(shard: shard, .interest(Self.nobody))])
    }

    /// Others may have come or shown something between the two, and nothing may follow to show it.
    @Test("a join is answered twice: what was sent between the answers is asked for, once")
    func answeredTwice() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        let asked = scene.take()
        scene.answerJoins(asked, sid: "s-ada", seq: 19)
        _ = scene.take()
        scene.answerJoins(asked, sid: "s-ada", seq: 19, sessionEpoch: 2)
        guard case .fanout(_, .interest(let interest))? = scene.take().first else {
            Issue.record("what was missed was not asked for")
            return
        }
        #expect(interest.position.seq == 19)
        #expect(interest.occupants.map(\.member.user) == ["ada"])
        scene.answerJoins(asked, sid: "s-ada", seq: 22, sessionEpoch: 3)
        #expect(scene.take().isEmpty)
    }

    @Test("a join of a connection that has gone is answered: others here ask for what they are behind of it")
    func answeredForNobody() throws {
        var scene = Scene()
        _ = try scene.member("bob", seq: 19)
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        let asked = scene.take()
        scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        _ = scene.take()
        scene.answerJoins(asked, sid: "s-ada", seq: 19)
        #expect(scene.take().isEmpty)
        scene.answerJoins(asked, sid: "s-ada", seq: 22)
        guard case .fanout(_, .interest(let interest))? = scene.take().first else {
            Issue.record("what was missed was not asked for")
            return
        }
        #expect(interest.occupants.map(\.member.user) == ["bob"])
    }

    /// Its answer knows nothing of members who have moved on, but the committers know the claim that it has raised.
    @Test func anAnswerOfAFormerFanoutCountsForTheSessionsClaimOnly() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r","session":"secret"}"#, ack: 1)
        let join = try #require(scene.take().joins.first)
        let former = scene.answer(to: join, sid: "s-ada", sessionEpoch: 3)
        scene.gateway.formerFanoutAnswered(former, into: &scene.actions)
        #expect(scene.take().isEmpty)
        scene.gateway.joinAnswered(
            scene.answer(to: join, sid: "s-ada", sessionEpoch: 2), at: scene.moment, seconds: 0, into: &scene.actions)
        #expect(scene.take().acknowledged == [1])
        scene.send(ada, "element:delete", #"{"roomId":"r","elementId":"e","n":1}"#, ack: 2)
        #expect(scene.take().commits.map(\.sessionEpoch) == [3])
    }

    @Test func previewsReachEverybodyButTheConnectionThatSentThem() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let tablet = try scene.member("ada", sid: "s-tablet")
        let bob = try scene.member("bob")
        scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e","transform":{"rotation":30}}"#)
        var preview = try #require(scene.take().previews.first)
        preview.after = 3
        preview.folded = 2
        preview.sinceLast = 16
        scene.gateway.relay.previewsReceived([preview], at: scene.moment, lateness: .zero, into: &scene.actions)
        let actions = scene.take()
        #expect(actions.texts(for: ada).isEmpty)
        let text =
            #"["element:transforming",{"roomId":"r","elementId":"e","userId":"ada","sid":"s-ada","transform":{"rotation":30},"gesture":1,"after":3,"n":2,"dt":16}]"#
        #expect(actions.texts(for: tablet) == [text])
        #expect(actions.texts(for: bob) == [text])
    }

    /// It served the room before another one did, and a link has held up what it sent then.
    @Test func previewsFromBeforeAFanoutServedTheRoomAgainAreDropped() throws {
        var scene = Scene()
        let ada = try scene.member("ada", seq: 5)
        let bob = try scene.member("bob", seq: 5)
        scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e","transform":{"rotation":30}}"#)
        let preview = try #require(scene.take().previews.first)
        scene.gateway.fanoutMoved(
            shards: [Shard.of(room: "r")], hadOwner: false, at: scene.moment, into: &scene.actions)
        scene.gateway.relay.previewsReceived([preview], at: scene.moment, lateness: .zero, into: &scene.actions)
        #expect(scene.take().texts(for: bob).isEmpty)
        let position = RoomPosition(room: "r", position: Position(epoch: "e", seq: 5), isReset: false)
        scene.gateway.relay.positionReceived(position, at: scene.moment, into: &scene.actions)
        scene.gateway.relay.previewsReceived([preview], at: scene.moment, lateness: .zero, into: &scene.actions)
        #expect(scene.take().texts(for: bob).count == 1)
    }

    @Test("presence is told to all but the joiner, and not to apps of 1.0")
    func presence() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let old = try scene.member("old", isV1: true)
        let member = Member(user: "bob", name: "Bob", color: "#fff")
        scene.gateway.relay.presenceChanged(
            Presence(room: "r", hasJoined: true, member: member, except: 0), into: &scene.actions)
        let actions = scene.take()
        let text = ##"["member:joined",{"roomId":"r","userId":"bob","name":"Bob","color":"#fff"}]"##
        #expect(actions.texts(for: ada) == [text])
        #expect(actions.texts(for: old).isEmpty)
    }

    @Test("a deletion is one event with all ids, for 1.0 one event for each id")
    func deletion() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let old = try scene.member("old", isV1: true)
        scene.gateway.relay.updateReceived(update(1, event: .deleted, ids: ["a", "b"]), into: &scene.actions)
        let actions = scene.take()
        #expect(
            actions.texts(for: ada) == [
                #"["element:deleted",{"roomId":"r","elementId":"a","elementIds":["a","b"],"seq":1,"userId":"u","sid":"s"}]"#
            ])
        #expect(actions.texts(for: old).count == 2)
    }

    @Test("a member that fell behind is told from where on, alone, and gets nothing numbered until it joins again")
    func fellBehind() throws {
        var scene = Scene()
        let slow = try scene.member("slow")
        let ada = try scene.member("ada")
        scene.gateway.relay.updateReceived(update(1), into: &scene.actions)
        guard case .broadcast(_, _, let step?)? = scene.take().first else {
            Issue.record("the update was not delivered")
            return
        }
        #expect(step.seq == 1 && step.room == "r")
        scene.gateway.relay.rooms.fellBehind([slow], in: "r", at: 1, into: &scene.actions)
        #expect(scene.take().texts(for: slow) == [#"["room:resync",{"roomId":"r","from":1,"to":1}]"#])
        // Updates of the same turn find it behind as well: it is told once.
        scene.gateway.relay.rooms.fellBehind([slow], in: "r", at: 2, into: &scene.actions)
        scene.gateway.relay.updateReceived(update(2), into: &scene.actions)
        let actions = scene.take()
        #expect(actions.texts(for: slow).isEmpty)
        #expect(actions.texts(for: ada).count == 1)
        #expect(scene.gateway.relay.rooms.streams.fallenBehindTotal == 1)
        scene.send(slow, "room:join", #"{"roomId":"r","resume":{"epoch":"e","seq":0}}"#, ack: 1)
        scene.answerJoins(sid: "s-slow", seq: 2)
        _ = scene.take()
        scene.gateway.relay.updateReceived(update(3), into: &scene.actions)
        #expect(scene.take().texts(for: slow).count == 1)
    }

    @Test("an app that cannot take the end of a gesture joins again, with nothing missed")
    func fellBehindAtAnEnd() throws {
        var scene = Scene()
        let slow = try scene.member("slow", seq: 3)
        let gesture = GestureEnd(room: "r", element: "e", user: "u", sid: "s", gesture: 1)
        scene.gateway.relay.rooms.gestureEnded(
            GestureEnded(gesture: gesture, seq: 2, json: Array(#"{"id":"e"}"#.utf8)), into: &scene.actions)
        guard case .broadcast([slow], _, let step?)? = scene.take().first else {
            Issue.record("the end was not delivered")
            return
        }
        #expect(step.seq == 4)
        scene.gateway.relay.rooms.fellBehind([slow], in: "r", at: 4, into: &scene.actions)
        #expect(scene.take().texts(for: slow) == [#"["room:resync",{"roomId":"r","from":4,"to":3}]"#])
    }

    /// The shell keeps previews for an app that does not read. Of commits that end them only members are told.
    @Test("whoever loses its place in a room, or takes another one, is shown none of the previews that wait for it")
    func waitingPreviews() throws {
        let changes: [(inout Scene, Slot) -> Void] = [
            { scene, slot in scene.send(slot, "room:leave", #"{"roomId":"r"}"#, ack: 1) },
            { scene, slot in scene.gateway.relay.rooms.fellBehind([slot], in: "r", at: 1, into: &scene.actions) },
            { scene, _ in
                let anew = RoomPosition(room: "r", position: Position(epoch: "another", seq: 3), isReset: true)
                scene.gateway.relay.positionReceived(anew, at: scene.moment, into: &scene.actions)
            },
            { scene, slot in
                scene.send(slot, "room:join", #"{"roomId":"r"}"#, ack: 1)
                scene.answerJoins(sid: "s-slow", seq: 3)
            },
        ]
        for change in changes {
            var scene = Scene()
            let slow = try scene.connect("slow")
            scene.send(slow, "room:join", #"{"roomId":"r"}"#, ack: 0)
            scene.answerJoins(sid: "s-slow")
            let drop = GatewayAction.dropPreviews([slow], room: "r")
            #expect(!scene.take().contains(drop), "nothing can wait yet")
            change(&scene, slow)
            let actions = scene.take()
            #expect(actions.count { $0 == drop } == 1)
            // Before the app hears of it.
            let place = try #require(actions.firstIndex(of: drop))
            #expect(Array(actions[..<place]).texts(for: slow).isEmpty && actions.texts(for: slow).count == 1)
        }
    }

    @Test("the end of a gesture does not show a 1.0 app what is behind a gap before the gap is filled")
    func endBehindAHole() throws {
        var scene = Scene()
        let ada = try scene.member("ada", seq: 1)
        let old = try scene.member("old", seq: 1, isV1: true)
        let gesture = GestureEnd(room: "r", element: "e", user: "u", sid: "s", gesture: 1)
        let ended = GestureEnded(gesture: gesture, seq: 3, json: Array(#"{"id":"e"}"#.utf8))
        _ = scene.take()
        scene.gateway.relay.rooms.gestureEnded(ended, into: &scene.actions)
        let before = scene.take()
        #expect(before.texts(for: ada).count == 1 && before.texts(for: old).isEmpty)
        scene.gateway.relay.updateReceived(update(2, ids: ["e"]), into: &scene.actions)
        #expect(scene.take().texts(for: old).count == 1)
        scene.gateway.relay.updateReceived(update(3, ids: ["e"]), into: &scene.actions)
        let texts = scene.take().texts(for: old)
        let event = #"["element:transformed",{"roomId":"r","element":{"id":"e"},"seq":3,"userId":"u","sid":"s"}]"#
        #expect(texts.count == 2 && texts.last == event)
        scene.gateway.relay.updateReceived(update(4, ids: ["e"]), into: &scene.actions)
        #expect(scene.take().texts(for: old).count == 1)
    }

    @Test("an app of 1.0 knows no room:resync, so its updates have no step to lose")
    func aV1AppKeepsItsPlace() throws {
        var scene = Scene()
        _ = try scene.member("old", isV1: true)
        scene.gateway.relay.updateReceived(update(1), into: &scene.actions)
        guard case .broadcast(_, _, let step?)? = scene.take().first else {
            Issue.record("the update was not delivered")
            return
        }
        #expect(step.seq == nil)
    }
}
