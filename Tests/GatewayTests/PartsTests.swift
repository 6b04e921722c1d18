import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite struct ConnectionsTests {
    private static let identity = Identity(member: Member(user: "ada", name: "Ada", color: ""))

    private func insert(_ connections: inout Connections) throws -> Slot {
        let handshake = try HandshakeFields(auth: nil, query: { _ in nil }, header: { _ in nil })
        return connections.insert(Self.identity, handshake)
    }

    @Test func slotIsReusedUnderANewID() throws {
        var connections = Connections(prefix: 7, limits: GatewayLimits())
        let slot = try self.insert(&connections)
        let id = connections.id(in: slot)
        #expect(connections.slot(of: id) == slot)
        let removed = connections.remove(slot)
        #expect(removed?.id == id)
        #expect(connections.count == 0 && !connections.isInUse(slot) && connections.bySlot[slot] == nil)
        let next = try self.insert(&connections)
        #expect(next == slot)
        #expect(!connections.contains(id, in: slot) && connections.slot(of: id) == nil)
        #expect(connections.count == 1)
    }
}

extension [GatewayAction] {
    /// The rooms that fan-outs are asked for, in order.
    fileprivate var questions: [Identifier] {
        self.compactMap { action in
            switch action {
            case .fanout(_, .read(let read)): read.room
            case .fanout(_, .readHistory(let read)): read.room
            default: nil
            }
        }
    }
}

extension HTTPRequests {
    /// A request to a gateway where nothing has happened.
    fileprivate mutating func received(
        _ request: AppRequest, as identity: Identity, for limits: GatewayLimits,
        _ answers: inout AnswerBudget, at now: Instant, into actions: inout [GatewayAction]
    ) -> UInt64 {
        var reader = EventReader(limits: limits, seed: 1)
        var commits = Commits(gateway: "g", limits: limits, seed: 1)
        return self.received(
            request, as: identity, Rooms(limits: limits), &reader, &commits, &answers, at: now, into: &actions)
    }
}

@Suite struct HTTPRequestsTests {
    private static let anybody = Identity(member: Member(user: "ada", name: "Ada", color: ""))

    @Test func aUserHasAFewReadsUnderWay() {
        var limits = GatewayLimits()
        limits.userReads = 1
        var requests = HTTPRequests(limits: limits, seed: 0)
        var answers = AnswerBudget(bound: 64 << 20, userBound: 8 << 20)
        var actions: [GatewayAction] = []
        for room in ["r1", "r2", "r3"] {
            _ = requests.received(.room(room), as: Self.anybody, for: limits, &answers, at: .start, into: &actions)
        }
        let bob = Identity(member: Member(user: "bob", name: "Bob", color: ""))
        _ = requests.received(
            .history(of: "r9", after: nil, limit: nil), as: bob, for: limits, &answers, at: .start + .seconds(1),
            into: &actions)
        #expect(actions.questions == ["r1", "r9"])
        requests.readAnswered(
            RoomState(request: 1, room: "r1", outcome: .neverUsed), &answers, at: .start, into: &actions)
        #expect(actions.questions == ["r1", "r9"], "nobody has read the answer")
        requests.answerRead(1, &answers, at: .start, into: &actions)
        #expect(actions.questions == ["r1", "r9", "r2"])
        // A read that never gets an answer makes room at its deadline; the last one has the same and is not asked for.
        requests.timeReached(.start + limits.deadline, &answers, into: &actions)
        #expect(requests.readCount == 1)
        for request in 1...3 as ClosedRange<UInt64> {
            requests.answerRead(request, &answers, at: .start, into: &actions)
        }
        _ = requests.received(.room("r4"), as: Self.anybody, for: limits, &answers, at: .start, into: &actions)
        #expect(actions.questions.last == "r4")
    }
}

@Suite struct HeldCommitsTests {
    private static func commit(_ room: Identifier, _ number: UInt64) throws -> Commit {
        Commit(
            room: room, session: "s", sessionEpoch: 1, number: number, user: "u", connection: 1,
            gateway: "g", gestures: [],
            edit: ReadEdit(refusal: Refusal(.gone, "deleted"), bodyHash: number).edit)
    }

    @Test func shardsTakeTurnsAndOneWithoutCreditIsSkipped() throws {
        var inFlight = InFlightCommits(limits: GatewayLimits())
        var actions: [GatewayAction] = []
        let rooms = (0..<20).map { Identifier("room-\($0)") }
        let shards = Set(rooms.map { Shard.of(room: $0) }).sorted()
        for room in rooms {
            let origin = InFlightCommit.Origin.http(1)
            let commit = try Self.commit(room, 1)
            _ = inFlight.accept(commit, from: origin, at: .start, into: &actions)
            inFlight.commitNotSent(commit)
        }
        let closed = try #require(shards.dropFirst().first)
        var last: Int?
        var turns: [Int] = []
        while let shard = inFlight.sendNextHeld(after: last, at: .start, into: &actions, hasCredit: { $0 != closed }) {
            turns.append(shard)
            last = shard
        }
        let open = shards.filter { $0 != closed }
        #expect(Array(turns.prefix(open.count)) == open)
        #expect(turns.count + inFlight.heldCount == rooms.count)
        #expect(inFlight.heldCount == rooms.count { Shard.of(room: $0) == closed })
    }
}
