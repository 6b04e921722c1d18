import Testing
import Timing
import Wire

@testable import GatewayCore

/// Joins without a gateway around them: only a relay and a clock.
@Suite struct JoinsTests {
    private final class Parts {
        var relay: Relay
        var joins: Joins
        var actions: [GatewayAction] = []
        var now = Instant(milliseconds: 1000)

        init(limits: GatewayLimits = GatewayLimits()) {
            self.relay = Relay(connectionPrefix: 7, limits: limits)
            self.joins = Joins(limits: limits, seed: 0)
        }

        func join(_ user: Identifier, _ room: Identifier = "r") throws -> Slot {
            let handshake = try HandshakeFields(auth: nil, query: { _ in nil }, header: { _ in nil })
            let identity = Identity(member: Member(user: user, name: user.text, color: ""))
            let slot = self.relay.connections.insert(identity, handshake)
            self.joinAgain(slot, room)
            return slot
        }

        func joinAgain(_ slot: Slot, _ room: Identifier = "r") {
            self.joins.start(
                JoinRequest(options: StreamOptions()), of: room,
                from: EventOrigin(slot: slot, ackID: 1, event: "room:join"), &self.relay,
                at: self.now, into: &self.actions)
        }

        func advance(_ milliseconds: UInt64) {
            self.now = self.now + .milliseconds(milliseconds)
            _ = self.joins.timeReached(self.now, &self.relay, into: &self.actions)
        }

        func leave(_ slot: Slot) {
            for (_, membership) in self.relay.connections.remove(slot)?.memberships ?? Memberships() {
                if let request = membership.join { self.joins.abandon(request) }
            }
        }

        func answer(_ join: Join, _ outcome: Result<JoinReply.Joined, Refusal>) -> Joins.Released? {
            let reply = JoinReply(
                request: join.request, room: join.room, connection: join.connection, outcome: outcome)
            return self.joins.answerReceived(
                reply, &self.relay, at: self.now, seconds: 0, into: &self.actions)
        }

        /// The joins that were sent since it was last asked.
        func sent() -> [Join] {
            defer { self.actions = [] }
            return self.actions.compactMap { if case .fanout(_, .join(let join)) = $0 { join } else { nil } }
        }
    }

    private static func joined(_ seq: UInt64) -> Result<JoinReply.Joined, Refusal> {
        .success(
            JoinReply.Joined(
                position: Position(epoch: "e", seq: seq), content: .elements([]), members: [], session: "", sid: "s",
                sessionEpoch: 1, number: 0))
    }

    @Test func aUserHasAFewJoinsUnderWayAndOthersDoNotWaitForThem() throws {
        var limits = GatewayLimits()
        limits.userReads = 2
        let parts = Parts(limits: limits)
        for room in ["r1", "r2", "r3", "r4"] as [Identifier] { _ = try parts.join("a", room) }
        _ = try parts.join("b", "r1")
        let sent = parts.sent()
        #expect(sent.map(\.room) == ["r1", "r2", "r1"] && sent.map(\.member.user) == ["a", "a", "b"])
        #expect(parts.answer(sent[1], Self.joined(1)) != nil)
        #expect(parts.sent().map(\.room) == ["r3"])
        #expect(parts.answer(sent[0], .failure(Refusal(.busy, "later"))) != nil)
        #expect(parts.sent().map(\.room) == ["r4"])
    }

    @Test func aUsersWaitingJoinsAreBounded() throws {
        var limits = GatewayLimits()
        limits.userReads = 1
        limits.userReadsWaiting = 2
        var scene = Scene(limits: limits)
        let (ada, bob) = (try scene.connect("ada"), try scene.connect("bob"))
        for number in 1...4 { scene.send(ada, "room:join", #"{"roomId":"r\#(number)"}"#, ack: UInt64(number)) }
        scene.send(bob, "room:join", #"{"roomId":"r1"}"#, ack: 5)
        let actions = scene.take()
        #expect(actions.acknowledged == [4], "the fourth is refused")
        #expect(actions.texts(for: ada).count == 1 && actions.texts(for: ada)[0].contains(#""code":"busy""#))
        #expect(scene.gateway.joins.count == 4)
    }

    /// Going away and coming back makes no room for another answer: the first one is still under way.
    @Test func anAbandonedJoinCountsUntilItIsAnswered() throws {
        var limits = GatewayLimits()
        limits.userReads = 1
        let parts = Parts(limits: limits)
        let first = try parts.join("a")
        let abandoned = try #require(parts.sent().first)
        parts.leave(first)
        let gone = try parts.join("a", "gone")
        _ = try parts.join("a", "r2")
        parts.leave(gone)
        #expect(parts.sent().isEmpty)
        #expect(parts.answer(abandoned, Self.joined(1)) == nil)
        #expect(parts.sent().map(\.room) == ["r2"])
        parts.advance(20_000)
        #expect(parts.joins.isEmpty)
    }

    @Test func aJoinWhoseTurnWasOverBeforeItBeganLetsTheNextOneBegin() throws {
        var limits = GatewayLimits()
        limits.userReads = 1
        limits.joinsPerSecond = 1
        let parts = Parts(limits: limits)
        _ = try parts.join("a", "r1")
        let second = try parts.join("a", "r2")
        _ = try parts.join("a", "r3")
        #expect(parts.joins.queuedCount == 0, "both wait for the first one")
        // The second one may begin, but the rate allows none now, and it goes away.
        let first = try #require(parts.sent().first)
        #expect(parts.answer(first, Self.joined(1)) != nil)
        #expect(parts.joins.queuedCount == 1 && parts.sent().isEmpty)
        parts.leave(second)
        parts.advance(1000)
        #expect(parts.sent().map(\.room) == ["r3"])
    }

    @Test func cursorThatWaitsHasItsPartOfTheSpace() throws {
        let parts = Parts()
        let slot = try parts.join("a")
        let join = try #require(parts.sent().first)
        func enqueue(cursorOf bytes: Int) -> Bool? {
            parts.relay.connections.bySlot[slot]?.enqueue(cursor: [UInt8](repeating: 0, count: bytes), for: "r")
        }
        let all = ClientConnection.maxWaitingBytes
        #expect(enqueue(cursorOf: all) == true)
        #expect(parts.relay.connections.bySlot[slot]?.enqueue([1], ackID: 9, for: "r") == false)
        #expect(enqueue(cursorOf: all + 1) == false)
        #expect(enqueue(cursorOf: 60) == true, "in place of the former one")
        #expect(parts.relay.connections.bySlot[slot]?.enqueue([1], ackID: 9, for: "r") == true)
        #expect(parts.answer(join, .failure(Refusal(.busy, "later")))?.events.cursor?.count == 60)
        parts.joinAgain(slot)
        #expect(enqueue(cursorOf: all) == true, "all space is given back")
    }

    @Test func refusedFirstJoinReleasesWhatWaitedAndIsWithdrawn() throws {
        let parts = Parts()
        let slot = try parts.join("a")
        let join = try #require(parts.sent().first)
        let isKept = parts.relay.connections.bySlot[slot]?.enqueue([1, 2], ackID: 9, for: "r")
        #expect(isKept == true)
        let released = parts.answer(join, .failure(Refusal(.busy, "later")))
        #expect(released?.events.events.count == 1)
        #expect(
            parts.actions.last == .fanout(of: "r", .leave(Leave(room: "r", connection: join.connection))))
        #expect(parts.relay.connections.bySlot[slot]?.memberships.contains("r") == false)
    }
}
