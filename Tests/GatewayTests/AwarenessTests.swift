import Canvas
import Testing
import Timing
import Wire

@testable import GatewayCore

/// Cursors, selections and other awareness.
@Suite struct AwarenessTests {
    private static func cursor(_ x: String, y: String = "2") -> String { #"{"roomId":"r","x":\#(x),"y":\#(y)}"# }

    private static func selection(_ ids: String) -> String { #"{"roomId":"r","elementIds":[\#(ids)]}"# }

    private static func selections(_ actions: [GatewayAction]) -> [Awareness] {
        actions.awareness.filter { $0.selection != nil }
    }

    private static func cursors(_ actions: [GatewayAction]) -> [Awareness] {
        actions.awareness.filter { $0.value.part == .cursor }
    }

    /// What comes from the fan-out of somebody at another gateway.
    private static func shown(_ value: AwarenessValue) -> Awareness {
        Awareness(room: "r", connection: 5, user: "cid", sid: "s-cid", version: 1, value: value)
    }

    private static func shown(_ x: Double?) -> Awareness { Self.shown(.cursor(x.map { .init(x: $0, y: 0) })) }

    private static func selected(_ ids: [Identifier]) -> Awareness { Self.shown(.selection(ids)) }

    private static func deliver(_ awareness: Awareness..., to scene: inout Scene) -> [GatewayAction] {
        scene.gateway.relay.awarenessReceived(awareness, at: scene.moment, lateness: .zero, into: &scene.actions)
        return scene.take()
    }

    @Test func itGoesStraightToTheFanout() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "cursor:moving", Self.cursor("1.5"))
        scene.send(ada, "selection:set", Self.selection(#""a","b""#), ack: 1)
        scene.pass(20)
        scene.send(ada, "cursor:moving", Self.cursor("null", y: "null"))
        let actions = scene.take()
        let shown = actions.awareness
        #expect(shown.map(\.value) == [.cursor(.init(x: 1.5, y: 2)), .selection(["a", "b"]), .cursor(nil)])
        #expect(shown.map(\.sid) == ["s-ada", "s-ada", "s-ada"] && shown.map(\.sinceLast) == [0, 0, 20])
        #expect(actions.acknowledged == [1] && actions.previews.isEmpty)
        #expect(shown.map(\.version) == shown.map(\.version).sorted())
    }

    /// Of each part one in 16 ms; the last one always leaves.
    @Test func whatComesTooSoonAfterTheLastOneWaitsAndTheNewestGoes() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        var left: [(x: Double?, at: UInt64)] = []
        for x in 0..<40 {
            scene.send(ada, "cursor:moving", Self.cursor("\(x)"))
            left += Self.cursors(scene.take()).map { ($0.cursor?.x, scene.now) }
            scene.pass(3)
            left += Self.cursors(scene.take()).map { ($0.cursor?.x, scene.now) }
        }
        #expect(left.first?.x == 0)
        #expect(zip(left, left.dropFirst()).allSatisfy { $1.at >= $0.at + 16 })
        #expect((6...8).contains(left.count))
        scene.send(ada, "selection:set", Self.selection(#""a""#))
        #expect(Self.selections(scene.take()).count == 1)
        let due = scene.gateway.relay.nextDeadline() ?? .never
        #expect(due <= scene.moment + .milliseconds(16))
        scene.pass(16)
        #expect(Self.cursors(scene.take()).map(\.cursor?.x) == [39])
        #expect(scene.gateway.relay.nextDeadline() == nil)
    }

    @Test func nothingIsSentBehindALeave() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for x in 0..<3 { scene.send(ada, "cursor:moving", Self.cursor("\(x)")) }
        _ = scene.take()
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#)
        scene.pass(16)
        #expect(scene.take().awareness.isEmpty && scene.gateway.relay.nextDeadline() == nil)
    }

    @Test func overTheRateTheLatestWaits() throws {
        var limits = GatewayLimits()
        limits.previewsPerSecond = 2
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for x in 1...5 { scene.send(ada, "cursor:moving", Self.cursor("\(x)")) }
        scene.send(ada, "selection:set", Self.selection(#""a""#))
        scene.send(ada, "selection:set", Self.selection(#""b""#))
        let first = scene.take()
        #expect(first.awareness.map(\.cursor?.x) == [1])
        scene.pass(2000)
        let second = scene.take()
        #expect(Self.cursors(second).map(\.cursor?.x) == [5] && Self.cursors(second).map(\.sinceLast) == [2000])
        #expect(Self.selections(second).map(\.selection) == [["b"]])
    }

    @Test func othersGetEventsOfTheirOwn() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let texts = Self.deliver(Self.shown(1.5), Self.selected(["a", "b"]), Self.shown(nil), to: &scene).texts(
            for: ada)
        #expect(
            texts == [
                #"["selection:changed",{"roomId":"r","userId":"cid","sid":"s-cid","elementIds":["a","b"]}]"#,
                #"["cursor:moved",{"roomId":"r","userId":"cid","sid":"s-cid","x":1.5,"y":0,"dt":0}]"#,
                #"["cursor:moved",{"roomId":"r","userId":"cid","sid":"s-cid","x":null,"y":null,"dt":0}]"#,
            ])
    }

    @Test func appsOfTheFirstContractGetNeither() throws {
        var scene = Scene()
        let v1 = try scene.member("old", isV1: true)
        #expect(Self.deliver(Self.shown(1), Self.selected(["a"]), to: &scene).texts(for: v1).isEmpty)
        // Nor when its viewport moves over a cursor.
        scene.send(v1, "viewport:set", #"{"roomId":"r","x":5000,"y":0,"width":100,"height":100}"#)
        var cursor = Self.shown(900)
        cursor.area = PreviewArea(.init(x: 900, y: 0, width: 0, height: 0))
        _ = Self.deliver(cursor, to: &scene)
        scene.send(v1, "viewport:set", #"{"roomId":"r","x":850,"y":0,"width":100,"height":100}"#)
        #expect(scene.take().texts(for: v1).isEmpty)
    }

    @Test func aCursorOutOfViewIsNotSentAndASelectionIs() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "viewport:set", #"{"roomId":"r","x":0,"y":0,"width":100,"height":100}"#)
        _ = scene.take()
        var far = Self.shown(900)
        far.area = PreviewArea(.init(x: 900, y: 0, width: 0, height: 0))
        #expect(Self.deliver(far, to: &scene).texts(for: ada).isEmpty)
        #expect(Self.deliver(Self.selected(["a"]), to: &scene).texts(for: ada).count == 1)
        // The viewport moves over the cursor.
        scene.send(ada, "viewport:set", #"{"roomId":"r","x":850,"y":0,"width":100,"height":100}"#)
        #expect(scene.take().texts(for: ada).count == 1)
        // One that is hidden is not there any more.
        _ = Self.deliver(Self.shown(nil), to: &scene)
        scene.advance(50)
        _ = scene.take()
        scene.send(ada, "viewport:set", #"{"roomId":"r"}"#)
        #expect(scene.take() == [])
    }

    @Test func aPositionOfTheStreamHidesWhatConnectionsElsewhereShowed() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let ben = try scene.member("ben")
        scene.send(ben, "cursor:moving", Self.cursor("1"))
        let local = try #require(scene.take().awareness.first)
        _ = Self.deliver(Self.shown(1), Self.selected(["a"]), local, to: &scene)
        let position = RoomPosition(room: "r", position: Position(epoch: "e", seq: 0), isReset: false)
        scene.gateway.relay.positionReceived(position, at: scene.moment, into: &scene.actions)
        let texts = scene.take().texts(for: ada)
        #expect(texts.count == 2)
        #expect(texts.contains { $0.contains(#""x":null"#) } && texts.contains { $0.contains(#""elementIds":[]"#) })
        scene.gateway.relay.positionReceived(position, at: scene.moment, into: &scene.actions)
        #expect(scene.take() == [])
    }

    /// Its fan-out ended before it heard of it, and the next one knows of nothing that it could hide.
    @Test func aPositionOfTheStreamHidesWhatAMemberHereHasTakenBack() throws {
        var scene = Scene()
        let (ada, ben) = (try scene.member("ada"), try scene.member("ben"))
        scene.send(ben, "selection:set", Self.selection(#""a""#))
        let selected = try #require(Self.selections(scene.take()).first)
        #expect(Self.deliver(selected, to: &scene).texts(for: ada).count == 1)
        let position = RoomPosition(room: "r", position: Position(epoch: "e", seq: 0), isReset: false)
        scene.gateway.relay.positionReceived(position, at: scene.moment, into: &scene.actions)
        #expect(scene.take() == [])
        scene.send(ben, "selection:set", Self.selection(""))
        _ = scene.take()
        scene.gateway.relay.positionReceived(position, at: scene.moment, into: &scene.actions)
        #expect(scene.take().texts(for: ada).filter { $0.contains(#""elementIds":[]"#) }.count == 1)
        scene.gateway.relay.positionReceived(position, at: scene.moment, into: &scene.actions)
        #expect(scene.take() == [])
    }

    @Test func whatAnAnswerToAJoinHasShownIsHiddenToo() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        for case .fanout(_, .join(let join)) in scene.take() {
            let joined = JoinReply.Joined(
                position: Position(epoch: "e", seq: 0), content: .elements(Array("[]".utf8)), members: [join.member],
                session: "x", sid: "s1", sessionEpoch: 1, number: 0,
                awareness: [[.init(ShownAwareness(sid: "s2", selection: ["e"]), of: 5)]])
            scene.gateway.joinAnswered(
                JoinReply(request: join.request, room: "r", connection: join.connection, outcome: .success(joined)),
                at: scene.moment, seconds: 0, into: &scene.actions)
        }
        _ = scene.take()
        let position = RoomPosition(room: "r", position: Position(epoch: "e", seq: 0), isReset: false)
        scene.gateway.relay.positionReceived(position, at: scene.moment, into: &scene.actions)
        #expect(scene.take().texts(for: ada).filter { $0.contains(#""elementIds":[]"#) }.count == 1)
    }

    @Test func anotherFanoutHearsWhatConnectionsShow() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "cursor:moving", Self.cursor("7"))
        scene.send(ada, "selection:set", Self.selection(#""a""#))
        _ = scene.take()
        scene.gateway.fanoutMoved(
            shards: [Shard.of(room: "r")], hadOwner: false, at: scene.moment, into: &scene.actions)
        let interests = scene.take().compactMap { action -> RoomInterest? in
            if case .fanout(_, .interest(let interest)) = action { interest } else { nil }
        }
        let shown = try #require(interests.first?.occupants.first?.awareness)
        #expect(shown.sid == "s-ada" && shown.cursor?.x == 7 && shown.selection == ["a"])
    }

    @Test func whoJoinsAgainShowsTheSameUnderItsSessionAndNothingUnderAnother() throws {
        for (sid, isShown) in [(Identifier("s-ada"), true), ("another", false)] {
            var scene = Scene()
            let ada = try scene.member("ada")
            scene.send(ada, "selection:set", Self.selection(#""a""#))
            _ = scene.take()
            scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 3)
            scene.answerJoins(sid: sid)
            scene.pass(16)
            #expect(Self.selections(scene.take()).map(\.sid) == (isShown ? [sid] : []))
        }
    }

    @Test func whatIsShownWhileAJoinIsInFlightFollowsIt() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        for x in 1...100 { scene.send(ada, "cursor:moving", Self.cursor("\(x)")) }
        scene.send(ada, "selection:set", Self.selection(#""a""#))
        scene.answerJoins(sid: "s-ada")
        let actions = scene.take()
        #expect(Self.cursors(actions).map(\.cursor?.x) == [100])
        #expect(Self.selections(actions).count == 1)
    }

    @Test func theMembersInAJoinsAnswerShowWhatTheyLookAt() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        for case .fanout(_, .join(let join)) in scene.take() {
            let shown = [
                ShownAwareness(
                    sid: "s1", cursor: .init(x: 1, y: 2), selection: ["e"], state: Array(#"{"tool":"pen"}"#.utf8),
                    viewport: Rect(x: 1, y: 2, width: 3, height: 4)), ShownAwareness(sid: "s2"),
            ]
            let joined = JoinReply.Joined(
                position: Position(epoch: "e", seq: 0), content: .elements(Array("[]".utf8)), members: [join.member],
                session: "x", sid: "s1", sessionEpoch: 1, number: 0,
                awareness: [shown.map { JoinReply.Shown($0, of: 5) }])
            scene.gateway.joinAnswered(
                JoinReply(request: join.request, room: "r", connection: join.connection, outcome: .success(joined)),
                at: scene.moment, seconds: 0, into: &scene.actions)
        }
        let text = try #require(scene.take().texts(for: ada).first)
        let first = #"{"sid":"s1","cursor":{"x":1,"y":2},"selection":["e"],"state":{"tool":"pen"},"#
        let connections =
            #""connections":["# + first + #""viewport":{"x":1,"y":2,"width":3,"height":4}},{"sid":"s2"}]"#
        #expect(text.contains(connections))
    }

    @Test(arguments: [
        ("cursor:moving", #"{"roomId":"r","x":1}"#, "y"), ("cursor:moving", #"{"roomId":"r","x":null,"y":1}"#, "x"),
        ("cursor:moving", #"{"roomId":"r","x":1,"y":null}"#, "y"), ("cursor:moving", #"{"roomId":"r"}"#, "x"),
        ("selection:set", #"{"roomId":"r"}"#, "elementIds"),
        ("selection:set", #"{"roomId":"r","elementIds":"a"}"#, "elementIds"),
        ("selection:set", #"{"roomId":"r","elementIds":["a","a"]}"#, "elementIds[1]"),
        ("selection:set", #"{"roomId":"r","elementIds":["a",5]}"#, "elementIds[1]"),
        ("presence:set", #"{"roomId":"r"}"#, "state"), ("presence:set", #"{"roomId":"r","state":null}"#, "state"),
        ("presence:set", #"{"roomId":"r","state":["a"]}"#, "state"),
    ])
    func malformedOnesAreRefused(event: String, payload: String, field: String) throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, event, payload, ack: 1)
        let text = try #require(scene.take().texts(for: ada).first)
        #expect(text.contains(#""code":"invalid""#) && text.contains("\"field\":\"\(field)\""))
        scene.send(ada, event, payload)
        scene.send(ada, event, payload)
        // Refusals without an acknowledgement are reported once a second, as those of previews.
        #expect(scene.take().count == 1)
    }

    private static func select(_ ids: String, in room: Identifier, by slot: Slot, _ scene: inout Scene) -> String? {
        scene.send(slot, "selection:set", #"{"roomId":"\#(room)","elementIds":[\#(ids)]}"#, ack: 9)
        return scene.take().texts(for: slot).first
    }

    @Test func theSelectionsOfAConnectionHaveABoundTogether() throws {
        var scene = Scene()
        let ada = try scene.member("ada", of: "r0")
        for room in ["r1", "r2"] {
            scene.send(ada, "room:join", #"{"roomId":"\#(room)"}"#, ack: 1)
            scene.answerJoins(sid: Identifier("s-\(room)"))
            _ = scene.take()
        }
        // Nearly half of what it may be.
        let many = (100..<600).map { "\"\(String(repeating: "e", count: 97))\($0)\"" }.joined(separator: ",")
        let accepted = #"{"ok":true}"#
        #expect(Self.select(many, in: "r0", by: ada, &scene) == accepted)
        #expect(Self.select(#""a""#, in: "r1", by: ada, &scene) == accepted)
        #expect(Self.select(many, in: "r2", by: ada, &scene) == accepted)
        let refusal = Self.select(many, in: "r1", by: ada, &scene) ?? ""
        #expect(refusal.contains(#""code":"too_large""#) && refusal.contains(#""field":"elementIds""#))
        // The former one stays, and what does not add to it may change.
        #expect(scene.gateway.relay.connections.bySlot[ada]?.awareness(in: "r1")?.selection == ["a"])
        for room in ["r0", "r2"] {
            #expect(Self.select(many, in: Identifier(room), by: ada, &scene) == accepted)
        }
        #expect(Self.select("", in: "r0", by: ada, &scene) == accepted)
        #expect(Self.select(many, in: "r1", by: ada, &scene) == accepted)
        // A room that was left counts no more.
        #expect(Self.select(many, in: "r0", by: ada, &scene)?.contains(#""code":"too_large""#) == true)
        scene.send(ada, "room:leave", #"{"roomId":"r1"}"#)
        _ = scene.take()
        #expect(Self.select(many, in: "r0", by: ada, &scene) == accepted)
    }

    @Test func aSelectionHasABound() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let ids = (0...scene.limits.group).map { #""e\#($0)""# }.joined(separator: ",")
        scene.send(ada, "selection:set", Self.selection(ids), ack: 1)
        let text = try #require(scene.take().texts(for: ada).first)
        #expect(text.contains(#""code":"too_large""#) && text.contains(#""field":"elementIds""#))
        // Who asks for no answer hears of it all the same.
        scene.send(ada, "selection:set", Self.selection(ids))
        #expect(scene.take().texts(for: ada).first?.contains(#""code":"too_large""#) == true)
    }

    // MARK: States and viewports

    @Test func aStateIsShownAsItIsAndItsSizeIsBounded() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "presence:set", #"{"roomId":"r","state":{"tool": "pen"}}"#, ack: 1)
        let actions = scene.take()
        #expect(actions.acknowledged == [1])
        #expect(actions.awareness.map(\.value) == [.state(Array(#"{"tool": "pen"}"#.utf8))])
        let long = String(repeating: "a", count: 1024 - #"{"a":""}"#.utf8.count)
        for (text, isTaken) in [(long, true), (long + "a", false)] {
            scene.pass(16)
            scene.send(ada, "presence:set", #"{"roomId":"r","state":{"a":"\#(text)"}}"#, ack: 2)
            let answer = try #require(scene.take().texts(for: ada).first)
            #expect(answer.contains(#""ok":\#(isTaken)"#) && answer.contains(#""code":"too_large""#) != isTaken)
        }
        #expect(scene.gateway.relay.connections.bySlot[ada]?.awareness(in: "r")?.state.count == 1024)
        #expect(scene.gateway.relay.heldBytes(for: ada) >= 1024)
        let texts = Self.deliver(
            Self.shown(.state(Array(#"{"tool":"pen"}"#.utf8))), Self.shown(.viewport(nil)), to: &scene
        ).texts(for: ada)
        #expect(
            texts == [
                #"["presence:changed",{"roomId":"r","userId":"cid","sid":"s-cid","state":{"tool":"pen"}}]"#,
                #"["viewport:changed",{"roomId":"r","userId":"cid","sid":"s-cid","x":null,"y":null,"width":null,"#
                    + #""height":null}]"#,
            ])
        let gone = Self.deliver(Self.shown(.state([])), to: &scene).texts(for: ada)
        #expect(gone.first?.contains(#""state":null"#) == true)
    }

    @Test func aViewportIsSharedUntilTheNextThatIsNot() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        func look(_ more: String) -> [AwarenessValue] {
            scene.pass(16)
            scene.send(ada, "viewport:set", #"{"roomId":"r","x":1,"y":2,"width":30,"height":40\#(more)}"#, ack: 1)
            let actions = scene.take()
            #expect(actions.acknowledged == [1])
            return actions.awareness.map(\.value)
        }
        let shared = AwarenessValue.viewport(Rect(x: 1, y: 2, width: 30, height: 40))
        #expect(look("") == [])
        #expect(look(#","share":true"#) == [shared])
        #expect(look(#","share":false"#) == [.viewport(nil)])
        #expect(look(#","share":false"#) == [])
        #expect(look(#","share":true"#) == [shared])
        #expect(look("") == [.viewport(nil)])
        scene.send(ada, "viewport:set", #"{"roomId":"r","share":1}"#, ack: 4)
        #expect(scene.take().texts(for: ada).first?.contains(#""field":"share""#) == true)
    }

    /// Everything is no part of the canvas.
    @Test func aViewportOfEverythingIsNotShown() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "viewport:set", #"{"roomId":"r","share":true}"#, ack: 1)
        #expect(scene.take().awareness.allSatisfy { $0.value == .viewport(nil) })
    }
}
