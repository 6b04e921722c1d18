import Auth
import Testing
import Wire

@testable import GatewayCore

/// Readers of a room's stream over HTTP: with what it begins, how it goes on and ends, and that nobody sees them.
@Suite struct SubscriberTests {
    private static let ada = Identity(member: Member(user: "ada", name: "Ada", color: ""))

    private func subscribe(after place: String? = nil, in scene: inout Scene) throws -> Slot {
        try scene.gateway.subscribed(
            to: "r", after: place, as: Self.ada, at: scene.moment, into: &scene.actions)
    }

    /// A subscriber whose stream has begun at a number; leaves no actions behind.
    private func subscriber(seq: UInt64 = 0, in scene: inout Scene) throws -> Slot {
        let slot = try self.subscribe(in: &scene)
        scene.answerJoins(sid: "s-reader", seq: seq)
        _ = scene.take()
        return slot
    }

    private func texts(_ actions: [GatewayAction], for slot: Slot) -> [String] {
        actions.compactMap { action in
            switch action {
            case .opening(slot, let text): String(decoding: text, as: UTF8.self)
            case .events(let slots, let text) where slots.contains(slot): String(decoding: text, as: UTF8.self)
            default: nil
            }
        }
    }

    @Test func withoutAPlaceItBeginsWithTheRoom() throws {
        var scene = Scene()
        let slot = try self.subscribe(in: &scene)
        let join = try #require(scene.actions.joins.first)
        #expect(join.resume == nil && join.session.isEmpty && join.member.isHidden)
        scene.answerJoins(sid: "s", seq: 4)
        #expect(
            self.texts(scene.take(), for: slot) == [
                "id: e:4\nevent: room:reset\ndata: {\"roomId\":\"r\",\"epoch\":\"e\",\"seq\":4,\"elements\":[]}\n\n"
            ])
    }

    @Test func fromItsPlaceItGetsWhatItMissed() throws {
        var scene = Scene()
        let slot = try self.subscribe(after: "e:4", in: &scene)
        let join = try #require(scene.take().joins.first)
        #expect(join.resume == Position(epoch: "e", seq: 4))
        var reply = scene.answer(to: join, sid: "s", seq: 6)
        if case .success(var joined) = reply.outcome {
            joined.content = .updates([update(5), update(6, event: .deleted)])
            reply.outcome = .success(joined)
        }
        scene.gateway.joinAnswered(reply, at: scene.moment, seconds: 0, into: &scene.actions)
        let text = try #require(self.texts(scene.take(), for: slot).first)
        #expect(text.hasPrefix(":\n\nid: e:5\nevent: element:transformed\ndata: {"))
        #expect(text.contains("}\n\nid: e:6\nevent: element:deleted\ndata: {") && text.hasSuffix("}\n\n"))
    }

    @Test func updatesFollowAndNothingElse() throws {
        var scene = Scene()
        let (slot, ben) = (try self.subscriber(in: &scene), try scene.member("ben"))
        scene.gateway.relay.updateReceived(update(1), into: &scene.actions)
        scene.send(ben, "room:signal", #"{"roomId":"r","name":"hello"}"#)
        let actions = scene.take()
        let events = self.texts(actions, for: slot)
        #expect(
            events.count == 1 && events[0].hasPrefix("id: e:1\nevent: element:transformed\ndata: {\"roomId\":\"r\""))
        #expect(actions.texts(for: slot).isEmpty)
    }

    @Test func whereItCannotGoOnItEnds() throws {
        var scene = Scene()
        let slot = try self.subscriber(seq: 3, in: &scene)
        let elsewhere = RoomPosition(room: "r", position: Position(epoch: "f", seq: 1), isReset: true)
        scene.gateway.relay.positionReceived(elsewhere, at: scene.moment, into: &scene.actions)
        #expect(scene.take().contains(.close(slot)))
    }

    @Test func aRoomThatCannotBeReadIsNoStream() throws {
        var scene = Scene()
        let slot = try self.subscribe(in: &scene)
        scene.advance(10_000)
        let refusals = scene.take().compactMap {
            if case .noStream(slot, let refusal) = $0 { refusal.code } else { nil }
        }
        #expect(refusals == [.unavailable])
    }

    @Test func itKeepsTheRoomFollowed() throws {
        var scene = Scene()
        _ = try self.subscriber(in: &scene)
        scene.gateway.relay.updateReceived(update(3), into: &scene.actions)
        let occupants = scene.take().compactMap { action -> [RoomInterest.Occupant]? in
            if case .fanout(_, .interest(let interest)) = action { interest.occupants } else { nil }
        }
        #expect(occupants.first?.map(\.member.isHidden) == [true])
    }

    @Test(arguments: [
        "", "e", ":4", "e:", "e:-1", "e:+1", "e:1.5", "e:9007199254740992", String(repeating: "e", count: 200) + ":1",
    ])
    func aPlaceThatIsNoneIsInvalid(place: String) {
        var scene = Scene()
        let refusal = #expect(throws: Refusal.self) { try self.subscribe(after: place, in: &scene) }
        #expect(refusal?.code == .invalid && refusal?.field == "after")
    }

    @Test func anEpochMayContainColons() throws {
        #expect(try EventStreamText.position("a:b:7") == Position(epoch: "a:b", seq: 7))
    }

    @Test func aRoomThatTheTokenDoesNotGiveIsForbidden() throws {
        var scene = Scene()
        var identity = Self.ada
        identity.rights = RoomRights()
        let refusal = #expect(throws: Refusal.self) {
            try scene.gateway.subscribed(to: "r", after: nil, as: identity, at: scene.moment, into: &scene.actions)
        }
        #expect(refusal?.code == .forbidden)
    }
}
