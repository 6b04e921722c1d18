import JSONBytes
import Testing
import Timing
import Wire

@testable import GatewayCore

/// Joins of large rooms.
@Suite struct SnapshotTests {
    private static func text(_ parts: SnapshotParts) -> [String] { parts.map { String(decoding: $0, as: UTF8.self) } }

    /// The JSON arrays in the parts of a room.
    private static func arrays(_ room: String, limit: Int) -> [String] {
        let parts = SnapshotParts(of: Array(room.utf8), in: "r", limit: limit)
        return Self.text(parts).enumerated().map { index, event in
            let head = #"["room:elements",{"roomId":"r","part":\#(index + 1),"parts":\#(parts.count),"elements":"#
            #expect(event.hasPrefix(head) && event.hasSuffix("}]"))
            return String(event.dropFirst(head.count).dropLast(2))
        }
    }

    @Test(
        arguments: [
            ("[]", 10, []),
            (#"[{"a":1}]"#, 4, [#"[{"a":1}]"#]),
            (#"[{"a":1},{"b":2},{"c":3}]"#, 17, [#"[{"a":1},{"b":2}]"#, #"[{"c":3}]"#]),
            (#"[{"a":1},{"b":2},{"c":3}]"#, 16, [#"[{"a":1}]"#, #"[{"b":2}]"#, #"[{"c":3}]"#]),
            (#"[{"a":"},{\"["},{"b":[{}]}]"#, 16, [#"[{"a":"},{\"["}]"#, #"[{"b":[{}]}]"#]),
            (#"[{"a":"\\"},{"b":"\\\""},{"c":""}]"#, 4, [#"[{"a":"\\"}]"#, #"[{"b":"\\\""}]"#, #"[{"c":""}]"#]),
        ] as [(String, Int, [String])])
    func roomIsDividedBetweenElements(elements: String, limit: Int, parts: [String]) {
        #expect(Self.arrays(elements, limit: limit) == parts)
    }

    @Test func everyDivisionHasAllElementsInOrder() throws {
        let elements = (0..<200).map { #"{"id":"e\#($0)","text":"\#(String(repeating: "x", count: $0 % 37))"}"# }
        let room = "[" + elements.joined(separator: ",") + "]"
        for limit in [1, 50, 100, 1000, 4096, 100_000] {
            let parts = Self.arrays(room, limit: limit)
            #expect(limit < 60 || parts.allSatisfy { $0.utf8.count <= limit })
            var document = JSONDocument()
            var found: [String] = []
            for part in parts {
                try document.parse(Array(part.utf8))
                found += document.root.elements.map { String(decoding: $0.rawBytes, as: UTF8.self) }
            }
            #expect(found == elements)
        }
    }

    /// A fan-out's answer with a large room.
    private static func answer(
        _ scene: inout Scene, _ actions: [GatewayAction], elements: Int = 20, awareness: [[JoinReply.Shown]] = []
    ) {
        let text = String(repeating: "x", count: 200)
        let room = "[" + (0..<elements).map { #"{"id":"e\#($0)","text":"\#(text)"}"# }.joined(separator: ",") + "]"
        for case .fanout(_, .join(let join)) in actions {
            let joined = JoinReply.Joined(
                position: Position(epoch: "e", seq: 3), content: .elements(Array(room.utf8)), members: [join.member],
                session: "secret", sid: Identifier("s-\(join.member.user)"), sessionEpoch: 1, number: 0,
                awareness: awareness)
            scene.gateway.joinAnswered(
                JoinReply(
                    request: join.request, room: join.room, connection: join.connection, outcome: .success(joined)),
                at: scene.moment, seconds: 0, into: &scene.actions)
        }
    }

    private static func scene() -> Scene {
        var limits = GatewayLimits()
        limits.snapshotPart = 2000
        return Scene(limits: limits)
    }

    private static func join(_ scene: inout Scene, _ user: String, room: String = "r", parts: Bool) throws -> Slot {
        let slot = try scene.connect(user)
        scene.send(slot, "room:join", #"{"roomId":"\#(room)","parts":\#(parts)}"#, ack: 1)
        Self.answer(&scene, scene.take())
        return slot
    }

    @Test func largeRoomComesInPartsBehindTheAnswer() throws {
        var scene = Self.scene()
        let ada = try Self.join(&scene, "ada", parts: true)
        guard case .snapshot(ada, let snapshot)? = scene.take().last else { throw Missing() }
        let answer = String(decoding: snapshot.arguments, as: UTF8.self)
        #expect(answer.contains(#""elements":[],"parts":3,"#))
        #expect(
            Self.text(snapshot.parts)[0].hasPrefix(#"["room:elements",{"roomId":"r","part":1,"parts":3,"elements":[{"#))
        scene.gateway.relay.updateReceived(update(4), into: &scene.actions)
        #expect(scene.take().isEmpty)
        scene.gateway.relay.rooms.snapshotRead(of: "r", by: ada, into: &scene.actions)
        #expect(scene.take().texts(for: ada) == [#"["room:resync",{"roomId":"r","from":4,"to":4}]"#])
    }

    @Test func appThatAsksForNoPartsGetsTheRoomInOneAnswer() throws {
        var scene = Self.scene()
        let ada = try Self.join(&scene, "ada", parts: false)
        guard case .snapshot(ada, let snapshot)? = scene.take().last else { throw Missing() }
        #expect(snapshot.parts.isEmpty)
        #expect(String(decoding: snapshot.arguments, as: UTF8.self).contains(#""elements":[{"id":"e0","#))
        scene.gateway.relay.updateReceived(update(4), into: &scene.actions)
        #expect(scene.take().texts(for: ada).count == 1)
    }

    @Test func leaverGetsNoMoreParts() throws {
        var scene = Self.scene()
        let ada = try Self.join(&scene, "ada", parts: true)
        _ = scene.take()
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 2)
        #expect(scene.take().contains(.dropSnapshot(ada, room: "r")))
        scene.gateway.relay.rooms.snapshotRead(of: "r", by: ada, into: &scene.actions)
        #expect(scene.take().isEmpty)
    }

    @Test func partsOfAnEarlierAnswerDoNotFollowALaterOne() throws {
        var scene = Self.scene()
        let ada = try Self.join(&scene, "ada", parts: true)
        _ = scene.take()
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 2)
        Self.answer(&scene, scene.take(), elements: 1)
        let actions = scene.take()
        #expect(actions.first == .dropSnapshot(ada, room: "r") && actions.acknowledged == [2])
    }

    @Test func memberHearsOfOthersWhileItReads() throws {
        var scene = Self.scene()
        let ada = try Self.join(&scene, "ada", parts: true)
        _ = scene.take()
        let bob = Member(user: "bob", name: "Bob", color: "")
        let presence = Presence(room: "r", hasJoined: true, member: bob, except: 0)
        scene.gateway.relay.presenceChanged(presence, into: &scene.actions)
        #expect(scene.take().texts(for: ada).count == 1)
    }

    @Test func selectionsMakeAnAnswerLargeToo() throws {
        var scene = Self.scene()
        let slot = try scene.connect("ada")
        scene.send(slot, "room:join", #"{"roomId":"r","parts":true}"#, ack: 1)
        let selection = (0..<200).map { Identifier("element-\($0)") }
        let awareness = [[JoinReply.Shown(ShownAwareness(sid: "s-bob", selection: selection), of: 9)]]
        Self.answer(&scene, scene.take(), elements: 0, awareness: awareness)
        guard case .snapshot(slot, let snapshot)? = scene.take().last else { throw Missing() }
        #expect(
            String(decoding: snapshot.arguments, as: UTF8.self).hasPrefix(#"[{"ok":true,"#) && snapshot.parts.isEmpty)
        // It follows the stream at once, as nothing comes in parts.
        scene.gateway.relay.updateReceived(update(4), into: &scene.actions)
        #expect(scene.take().texts(for: slot).count == 1)
        scene.gateway.relay.rooms.snapshotRead(of: "r", by: slot, into: &scene.actions)
        #expect(scene.take().isEmpty)
    }

    private struct Missing: Error {}
}
