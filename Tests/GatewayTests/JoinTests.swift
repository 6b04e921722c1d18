import Testing
import Wire

@testable import GatewayCore

@Suite("Joining")
struct JoinTests {
    @Test("a join goes to the fan-out; its answer becomes the acknowledgement")
    func join() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 3)
        guard case .fanout(let shard, .join(let join))? = scene.gateway.actions.first else {
            Issue.record("no join was sent")
            return
        }
        #expect(shard == Shard.of(room: "r"))
        #expect(join.member.user == "ada")
        scene.answerJoins(sid: "s1", seq: 4)
        let text = try #require(scene.take().texts(for: ada).first)
        #expect(text.hasPrefix(#"{"ok":true,"roomId":"r","epoch":"e","seq":4,"recovered":false,"elements":[],"members":["#))
        #expect(text.contains(#""session":"secret","sid":"s1","n":0,"throttleMs":16,"limits":{"#))
    }

    @Test("no update with a number up to the join's answer follows it; the next one does")
    func floor() throws {
        var scene = Scene()
        let ada = try scene.member("ada", seq: 4)
        scene.gateway.updated(update(4))
        #expect(scene.take().isEmpty)
        scene.gateway.updated(update(5))
        #expect(scene.take().texts(for: ada).count == 1)
    }

    @Test("events of a room wait for the join that is under way, in order")
    func waiting() throws {
        var scene = Scene()
        let ada = try scene.connect("ada", room: "r")
        scene.send(ada, "element:create", #"{"roomId":"r","element":{"type":"note"}}"#, ack: 1)
        scene.send(ada, "element:delete", #"{"roomId":"r","elementId":"x"}"#, ack: 2)
        #expect(scene.gateway.actions.commits.isEmpty)
        scene.answerJoins(sid: "s1")
        #expect(scene.take().commits.map(\.number) == [1, 2])
    }

    @Test("a join that is not answered is sent again each second and refused at the deadline")
    func deadline() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        _ = scene.take()
        scene.advance(1_000)
        #expect(scene.take().count == 1)
        scene.advance(9_000)
        let texts = scene.take().texts(for: ada)
        #expect(texts.first?.contains(#""code":"unavailable""#) == true)
    }

    @Test(
        "a malformed join is refused with the field",
        arguments: [
            (#"{}"#, "roomId"), (#"{"roomId":7}"#, "roomId"), (#"{"roomId":""}"#, "roomId"),
            (#"{"roomId":"a b"}"#, "roomId"), (#"{"roomId":"r","session":null}"#, "session"),
            (#"{"roomId":"r","resume":1}"#, "resume"), (#"{"roomId":"r","resume":{"seq":1}}"#, "resume.epoch"),
            (#"{"roomId":"r","resume":{"epoch":"e","seq":-1}}"#, "resume.seq"),
            (#"{"roomId":"r","resume":{"epoch":"e","seq":1.5}}"#, "resume.seq"),
            (#"{"roomId":"r","previews":1}"#, "previews"),
        ])
    func malformed(payload: String, field: String) throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", payload, ack: 1)
        let text = try #require(scene.take().texts(for: ada).first)
        #expect(text.contains(#""code":"invalid""#))
        #expect(text.contains(#""field":"\#(field)""#))
    }

    @Test("a connection may be in so many rooms and no more")
    func tooManyRooms() throws {
        var limits = Limits()
        limits.rooms = 2
        var scene = Scene(limits: limits)
        let ada = try scene.connect("ada")
        for room in ["a", "b", "c"] { scene.send(ada, "room:join", #"{"roomId":"\#(room)"}"#, ack: 1) }
        let texts = scene.take().texts(for: ada)
        #expect(texts.count == 1)
        #expect(texts.first?.contains(#""code":"too_large""#) == true)
    }

    @Test("leaving a room that one is not in is fine")
    func leave() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 9)
        #expect(scene.take() == [.acknowledge(ada, id: 9, json: Array(#"{"ok":true}"#.utf8))])
    }

    @Test("an app of 1.0 that sends room:join speaks the full contract from then on")
    func modern() throws {
        var scene = Scene()
        let ada = try scene.member("ada", isLegacy: true)
        scene.gateway.updated(update(1, event: .createdMany, ids: ["a", "b"]))
        let legacy = scene.take().texts(for: ada)
        #expect(legacy.count == 2)
        #expect(legacy.allSatisfy { $0.hasPrefix(#"["element:created",{"id":"#) })
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        scene.answerJoins(sid: "s-ada", seq: 1)
        _ = scene.take()
        scene.gateway.updated(update(2, event: .createdMany, ids: ["c", "d"]))
        let full = scene.take().texts(for: ada)
        #expect(full.count == 1)
        #expect(full.first?.hasPrefix(#"["elements:created",{"roomId":"r","elements":[{"id":"c"},{"id":"d"}]"#) == true)
    }
}

@Suite("The room's stream")
struct StreamTests {
    @Test("a hole is noticed, asked for once, and nothing after it is delivered before it is filled")
    func hole() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.gateway.updated(update(2))
        scene.gateway.updated(update(3))
        let asked = scene.take()
        #expect(asked.count == 1)
        guard case .fanout(_, .interest(let interest))? = asked.first else {
            Issue.record("the hole was not asked for")
            return
        }
        #expect(interest.position.seq == 0)
        for seq in UInt64(1)...3 { scene.gateway.updated(update(seq)) }
        scene.gateway.positioned(RoomPosition(room: "r", position: Position(epoch: "e", seq: 3), isReset: false))
        #expect(scene.take().texts(for: ada).map { $0.contains(#""seq":"#) } == [true, true, true])
        scene.gateway.updated(update(3))
        #expect(scene.take().isEmpty)
    }

    @Test("a place that cannot be filled is told as room:resync, and nothing numbered follows until the next join")
    func reset() throws {
        var scene = Scene()
        let ada = try scene.member("ada", seq: 5)
        scene.gateway.positioned(RoomPosition(room: "r", position: Position(epoch: "e", seq: 90), isReset: true))
        #expect(scene.take().texts(for: ada) == [#"["room:resync",{"roomId":"r","from":6,"to":90}]"#])
        scene.gateway.updated(update(91))
        #expect(scene.take().isEmpty)
    }

    @Test("after a change of fan-outs the new one is told who is here and up to where the stream came")
    func moved() throws {
        var scene = Scene()
        _ = try scene.member("ada", seq: 5)
        scene.gateway.fanoutMoved(shards: [Shard.of(room: "r")], hadOwner: true, at: scene.now)
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

    @Test("previews reach everybody but the connection that sent them")
    func previews() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let tablet = try scene.member("ada", sid: "s-tablet")
        let bob = try scene.member("bob")
        scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e","transform":{"rotation":30}}"#)
        var preview = try #require(scene.take().previews.first)
        preview.after = 3
        preview.folded = 2
        preview.sinceLast = 16
        scene.gateway.previewed([preview])
        let actions = scene.take()
        #expect(actions.texts(for: ada).isEmpty)
        let text =
            #"["element:transforming",{"roomId":"r","elementId":"e","userId":"ada","sid":"s-ada","transform":{"rotation":30},"gesture":1,"after":3,"n":2,"dt":16}]"#
        #expect(actions.texts(for: tablet) == [text])
        #expect(actions.texts(for: bob) == [text])
    }

    @Test("presence is told to all but the joiner, and not to apps of 1.0")
    func presence() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let old = try scene.member("old", isLegacy: true)
        let member = Member(user: "bob", name: "Bob", color: "#fff")
        scene.gateway.presenceChanged(Presence(room: "r", hasJoined: true, member: member, except: 0))
        let actions = scene.take()
        let text = ##"["member:joined",{"roomId":"r","userId":"bob","name":"Bob","color":"#fff"}]"##
        #expect(actions.texts(for: ada) == [text])
        #expect(actions.texts(for: old).isEmpty)
    }

    @Test("a deletion is one event with all ids, for 1.0 one event for each id")
    func deletion() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let old = try scene.member("old", isLegacy: true)
        scene.gateway.updated(update(1, event: .deleted, ids: ["a", "b"]))
        let actions = scene.take()
        #expect(
            actions.texts(for: ada) == [
                #"["element:deleted",{"roomId":"r","elementId":"a","elementIds":["a","b"],"seq":1,"userId":"u","sid":"s"}]"#
            ])
        #expect(actions.texts(for: old).count == 2)
    }
}
