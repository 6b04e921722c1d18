import Canvas
import JSONBytes
import Testing
import Wire

@testable import GatewayCore

/// Apps that ask for no motion, and apps of the 1.0 contract, get elements where they are stored.
@Suite struct StillTests {
    /// An element with an own field that looks like what is left out.
    private static func element(_ id: String = "e") -> Element {
        var element = Element(id: id, type: "note", createdBy: "ada")
        element.motion[.positionX] = Track(
            startedAt: 5, segments: [Segment(from: 0, to: 9, ms: 100, curve: .easing(.steps(count: 2, jump: .end)))])
        element.animation = KeyframeAnimation(ms: 100)
        element.animation?.tracks[.opacity] = [KeyframeAnimation.Keyframe(at: 0, value: 0)]
        element.extra = [ExtraField(name: "own", json: Array(#"{"a":1,"motion":{"b":{}},"animation":{}}"#.utf8))]
        return element
    }

    private static func stillText(_ element: Element) -> String {
        var element = element
        element.motion = Motion()
        element.animation = nil
        return String(decoding: element.jsonText, as: UTF8.self)
    }

    private static func update(_ seq: UInt64, _ event: UpdateEvent) -> Update {
        Update(
            shard: UInt8(Shard.of(room: "r")), gseq: seq, room: "r", seq: seq, event: event, user: "eve", sid: "s-eve",
            number: 0,
            elements: ["e", "f"].prefix(event.shape.isSingle ? 1 : 2).map {
                let json = Self.element($0).jsonText
                return UpdatedElement(
                    id: Identifier($0), json: json, part: event.shape.part(of: json, changesAnimation: true))
            })
    }

    @Test func aTextIsCutWhereItMoves() {
        let element = Self.element()
        #expect(String(decoding: ElementText(element.jsonText).still(), as: UTF8.self) == Self.stillText(element))
        let plain = Element(id: "e", type: "note", createdBy: "ada").jsonText
        #expect(ElementText(plain).still() == plain)
    }

    @Test(arguments: [
        UpdateEvent.transformed, .created, .createdMany, .updated, .transformedMany, .changedMany, .updatedMany,
    ])
    func updatesReachEachAppInItsForm(event: UpdateEvent) throws {
        var scene = Scene()
        let (moving, still, v1) = try Self.members(&scene)
        scene.gateway.relay.updateReceived(Self.update(1, event), into: &scene.actions)
        let actions = scene.take()
        let texts = [moving, still, v1].map { actions.texts(for: $0).joined() }
        #expect(texts[0].contains(#""animation":{"ms":100"#) || event == .deleted)
        for text in texts.dropFirst() {
            #expect(!text.contains("startedAt") && !text.contains(#""animation":{"ms""#) && !text.contains("segments"))
        }
        #expect(texts[1].contains(#""seq":1"#))
    }

    /// One that shows motion, one that asks for none, and one of the 1.0 contract.
    private static func members(_ scene: inout Scene) throws -> (moving: Slot, still: Slot, v1: Slot) {
        let moving = try scene.member("ada")
        let still = try scene.connect("sid")
        scene.send(still, "room:join", #"{"roomId":"r","motion":false}"#, ack: 1)
        scene.answerJoins(sid: "s-sid")
        let v1 = try scene.member("old", isV1: true)
        _ = scene.take()
        return (moving, still, v1)
    }

    @Test(arguments: [UpdateEvent.updated, .updatedMany])
    func anAppOfTheFirstContractHearsNothingOfAnimations(event: UpdateEvent) throws {
        var scene = Scene()
        let (_, still, v1) = try Self.members(&scene)
        scene.gateway.relay.updateReceived(Self.update(1, event), into: &scene.actions)
        let actions = scene.take()
        #expect(actions.texts(for: v1).isEmpty && actions.texts(for: still).count == 1)
    }

    @Test func theEndOfAGestureShowsWhereTheElementIsStored() throws {
        var scene = Scene()
        let (moving, still, v1) = try Self.members(&scene)
        let gesture = GestureEnd(room: "r", element: "e", user: "eve", sid: "s-eve", gesture: 1)
        scene.gateway.relay.rooms.gestureEnded(
            GestureEnded(gesture: gesture, seq: 0, json: Self.element().jsonText), into: &scene.actions)
        let actions = scene.take()
        let texts = [moving, still, v1].map { actions.texts(for: $0).joined() }
        #expect(texts[0].contains(#""startedAt":5"#))
        #expect(texts.dropFirst().allSatisfy { $0.contains(Self.stillText(Self.element())) })
    }

    @Test func itsOwnCommitsAreAnsweredWithoutMotion() throws {
        var scene = Scene()
        let (_, still, _) = try Self.members(&scene)
        scene.send(still, "element:transform", #"{"roomId":"r","elementId":"e","positionX":1}"#, ack: 2)
        var answer = result(of: try #require(scene.take().commits.first), seq: 1)
        let text = String(decoding: Self.element().jsonText, as: UTF8.self)
        answer.json = Array(#"{"ok":true,"seq":1,"element":\#(text),"adjusted":[]}"#.utf8)
        scene.gateway.resultReceived(answer, at: scene.moment, into: &scene.actions)
        let expected = #"{"ok":true,"seq":1,"element":\#(Self.stillText(Self.element())),"adjusted":[]}"#
        #expect(scene.take().texts(for: still) == [expected])
    }

    @Test func whatItMissedIsReplayedWithoutMotion() throws {
        var scene = Scene()
        let still = try scene.connect("sid")
        scene.send(
            still, "room:join", #"{"roomId":"r","motion":false,"resume":{"epoch":"e","seq":0}}"#, ack: 1)
        for join in scene.take().joins {
            var reply = scene.answer(to: join, sid: "s-sid", seq: 1)
            if case .success(var joined) = reply.outcome {
                joined.content = .updates([Self.update(1, .transformed)])
                reply.outcome = .success(joined)
            }
            scene.gateway.joinAnswered(reply, at: scene.moment, seconds: 0, into: &scene.actions)
        }
        let text = try #require(scene.take().texts(for: still).first)
        #expect(text.contains(#""recovered":true"#) && text.contains(Self.stillText(Self.element())))
    }

    @Test func theHandshakeHoldsForAllRooms() throws {
        var scene = Scene()
        let query = ["userId": "sid", "motion": "false"]
        let handshake = try HandshakeFields(auth: nil, query: { query["\($0)"] }, header: { _ in nil })
        #expect(!handshake.options.motion && handshake.options.previews)
        let identity = try scene.gateway.authenticator.identify(handshake, guest: "guest", seconds: 0)
        let sid = scene.gateway.connected(
            identity: identity, handshake: handshake, at: scene.moment, into: &scene.actions)
        scene.send(sid, "room:join", #"{"roomId":"r","motion":true}"#, ack: 1)
        for case .fanout(_, .join(let join)) in scene.take() {
            var reply = scene.answer(to: join, sid: "s-sid")
            if case .success(var joined) = reply.outcome {
                joined.content = .elements(Array("[".utf8) + Self.element().jsonText + Array("]".utf8))
                reply.outcome = .success(joined)
            }
            scene.gateway.joinAnswered(reply, at: scene.moment, seconds: 0, into: &scene.actions)
        }
        #expect(scene.take().texts(for: sid)[0].contains(#""elements":[\#(Self.stillText(Self.element()))]"#))
    }

    @Test func answersAndReplaysAreStillToo() {
        let element = Self.element()
        let text = String(decoding: element.jsonText, as: UTF8.self)
        let answer = StillText.acknowledgement(Array(#"{"ok":true,"seq":3,"element":\#(text),"adjusted":[]}"#.utf8))
        #expect(
            String(decoding: answer, as: UTF8.self)
                == #"{"ok":true,"seq":3,"element":\#(Self.stillText(element)),"adjusted":[]}"#)
        let many = StillText.acknowledgement(Array(#"{"ok":true,"elements":[\#(text),\#(text)]}"#.utf8))
        #expect(
            String(decoding: many, as: UTF8.self)
                == #"{"ok":true,"elements":[\#(Self.stillText(element)),\#(Self.stillText(element))]}"#)
        let refused = Array(#"{"ok":false,"error":{"code":"gap"}}"#.utf8)
        #expect(StillText.acknowledgement(refused) == refused)
        guard case .updates(let updates) = RoomContent.updates([Self.update(1, .transformed)]).still else { return }
        #expect(updates[0].elements[0].json == Array(Self.stillText(element).utf8))
    }
}
