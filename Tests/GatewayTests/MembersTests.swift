import Testing
import Wire

@testable import GatewayCore

/// Whom apps see in a room: Ada and Ben are here, others at other gateways.
@Suite struct MembersTests {
    private static func stage() throws -> (scene: Scene, ada: Slot, ben: Slot) {
        var scene = Scene()
        let ada = try scene.member("ada")
        let ben = try scene.member("ben")
        return (scene, ada, ben)
    }

    private static func member(_ name: String) -> Member {
        Member(user: Identifier(name), name: name, color: "#888888")
    }

    private static func change(_ scene: inout Scene, _ name: String, hasJoined: Bool, called: String? = nil) {
        var member = Self.member(name)
        member.name = called ?? name
        let presence = Presence(room: "r", hasJoined: hasJoined, member: member, except: 0)
        scene.gateway.relay.presenceChanged(presence, into: &scene.actions)
    }

    private static func list(
        _ scene: inout Scene, _ names: [String], after: Identifier = "", through: Identifier = "",
        isComplete: Bool = true
    ) {
        let list = RoomMembers(
            room: "r", after: after, through: through, isComplete: isComplete, members: names.map(Self.member))
        scene.gateway.relay.rooms.membersReceived(list, into: &scene.actions)
    }

    /// Who joined (+), is shown otherwise (~) and left (-), as an app hears it.
    private static func told(_ actions: [GatewayAction], _ slot: Slot) -> [String] {
        actions.texts(for: slot).compactMap { text in
            let parts = text.split(separator: "\"")
            guard let name = parts.firstIndex(of: "userId").map({ parts[$0 + 2] }) else { return nil }
            let sign = text.contains("member:joined") ? "+" : text.contains("member:changed") ? "~" : "-"
            return sign + name
        }
    }

    @Test func aNewcomersAnswerContainsWhomTheOthersSee() throws {
        var (scene, ada, _) = try Self.stage()
        Self.change(&scene, "cid", hasJoined: true)
        _ = scene.take()
        // The fan-out that answers does not know the others yet.
        let dan = try scene.connect("dan")
        scene.send(dan, "room:join", #"{"roomId":"r"}"#, ack: 1)
        scene.answerJoins(sid: "s-dan")
        let actions = scene.take()
        let answer = try #require(actions.texts(for: dan).first)
        for name in ["ada", "ben", "cid", "dan"] { #expect(answer.contains("\"userId\":\"\(name)\"")) }
        #expect(Self.told(actions, ada) == ["+dan"])
        Self.change(&scene, "dan", hasJoined: true)
        #expect(scene.take() == [])
    }

    @Test func whatAppsKnowIsNotToldAgain() throws {
        var (scene, ada, ben) = try Self.stage()
        for _ in 1...2 { Self.change(&scene, "cid", hasJoined: true) }
        for _ in 1...2 { Self.change(&scene, "cid", hasJoined: false) }
        let actions = scene.take()
        #expect(Self.told(actions, ada) == ["+cid", "-cid"] && Self.told(actions, ben) == ["+cid", "-cid"])
    }

    @Test func whatWasMissedIsTheDifferenceToACompleteList() throws {
        var (scene, ada, _) = try Self.stage()
        Self.change(&scene, "cid", hasJoined: true)
        _ = scene.take()
        Self.list(&scene, ["ada", "ben", "dan"])
        #expect(Self.told(scene.take(), ada) == ["-cid", "+dan"])
        Self.list(&scene, ["ada", "ben", "dan"])
        #expect(scene.take() == [])
    }

    @Test func whoIsShownByAnotherNameIsToldToTheOthers() throws {
        var (scene, ada, _) = try Self.stage()
        let old = try scene.member("old", isV1: true)
        Self.change(&scene, "cid", hasJoined: true)
        _ = scene.take()
        for _ in 1...2 { Self.change(&scene, "cid", hasJoined: true, called: "Sid") }
        let actions = scene.take()
        #expect(
            actions.texts(for: ada)
                == [##"["member:changed",{"roomId":"r","userId":"cid","name":"Sid","color":"#888888"}]"##])
        #expect(actions.texts(for: old).isEmpty)
        // The list and the answer to a join have what the others see.
        Self.list(&scene, ["ada", "ben", "old", "cid"])
        #expect(Self.told(scene.take(), ada).contains("~cid"))
        Self.change(&scene, "cid", hasJoined: true, called: "Sid")
        let dan = try scene.connect("dan")
        scene.send(dan, "room:join", #"{"roomId":"r"}"#, ack: 1)
        scene.answerJoins(sid: "s-dan")
        #expect(scene.take().texts(for: dan).first?.contains(#""name":"Sid""#) == true)
    }

    @Test func aJoinsAnswerSaysWhoItsAppIsAndWhatTheTimeIs() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        for case .fanout(_, .join(let join)) in scene.actions {
            scene.gateway.joinAnswered(
                scene.answer(to: join, sid: "s-ada"), at: scene.moment, seconds: 1_750_000_000.5, into: &scene.actions)
        }
        let answer = try #require(scene.take().texts(for: ada).first)
        #expect(answer.contains(##""self":{"userId":"ada","name":"ada","color":"#"##))
        #expect(answer.contains(#""right":"commit"}"#))
        #expect(answer.contains(#""time":1750000000500}"#))
        scene.gateway.eventReceived(
            Array(#"["client:ping",{}]"#.utf8), ackID: 2, from: ada, at: scene.moment, seconds: 1.25,
            into: &scene.actions)
        #expect(scene.take().texts(for: ada) == [#"{"ok":true,"time":1250}"#])
    }

    @Test func aListThatIsNotCompleteOnlyAddsMembers() throws {
        var (scene, ada, _) = try Self.stage()
        Self.list(&scene, ["dan"], isComplete: false)
        #expect(Self.told(scene.take(), ada) == ["+dan"])
    }

    @Test func aPartOfAListIsAboutItsUsersOnly() throws {
        var (scene, ada, _) = try Self.stage()
        for name in ["cid", "dan", "eve"] { Self.change(&scene, name, hasJoined: true) }
        _ = scene.take()
        Self.list(&scene, ["dora"], after: "cid", through: "dora")
        #expect(Self.told(scene.take(), ada) == ["-dan", "+dora"])
    }

    @Test func aRoomWithoutMembersHereIsForgotten() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        Self.change(&scene, "cid", hasJoined: true)
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#)
        _ = scene.take()
        Self.list(&scene, ["cid", "dan"])
        #expect(scene.take() == [])
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 2)
        scene.answerJoins(sid: "s-ada")
        #expect(scene.take().texts(for: ada).allSatisfy { !$0.contains("cid") })
    }
}
