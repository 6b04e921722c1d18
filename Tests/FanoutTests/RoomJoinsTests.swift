import Canvas
import Testing
import Timing
import Wire

@testable import FanoutCore

/// The joins that wait for a room, without the room.
@Suite struct RoomJoinsTests {
    private var joins = RoomJoins(of: "r")
    private var services = RoomServices(limits: FanoutLimits(), rules: .defaults)
    private var actions: [FanoutAction] = []
    private let now = Instant.start + .seconds(1)

    private init() {
        self.services.issuer = Scene.issuer
    }

    private mutating func waiting(
        _ request: UInt64, connection: UInt64? = nil, session: String = "", at now: Instant
    ) throws -> UInt64 {
        let tag = self.receive(request, connection: connection, session: session, at: now)
        return try #require(tag)
    }

    private mutating func receive(
        _ request: UInt64, connection: UInt64? = nil, session: String = "", at now: Instant
    ) -> UInt64? {
        let join = Join(
            request: request, room: "r", connection: connection ?? request, member: .named("ann"), session: session)
        return self.joins.received(join, from: Scene.g1, at: now, with: &self.services, into: &self.actions)
    }

    private var refusals: [UInt64: RefusalCode] {
        var refusals: [UInt64: RefusalCode] = [:]
        for case .send(.joinReply(let reply), _) in self.actions {
            if case .failure(let refusal) = reply.outcome { refusals[reply.request] = refusal.code }
        }
        return refusals
    }

    private var questions: [DatabaseRequest.Query] {
        self.actions.compactMap { if case .read(let request) = $0 { request.query } else { nil } }
    }

    @Test mutating func joinIsRefusedAtItsDeadlineAndTheNextOneClaimsItsSession() throws {
        _ = try self.waiting(1, session: "s-ann.good", at: self.now)
        let second = try self.waiting(2, session: "s-ann.good", at: self.now + .seconds(1))
        let deadline = self.now + self.services.limits.joinDeadline
        let early = deadline - .milliseconds(1)
        #expect(self.joins.refuseExpired(at: early, with: &self.services, into: &self.actions) == false)
        #expect(self.joins.refuseExpired(at: deadline, with: &self.services, into: &self.actions) == true)
        #expect(self.refusals == [1: .unavailable] && self.joins.tags == [second])
        #expect(self.services.questions.popRetry(at: deadline)?.purpose == .claim(second))
    }

    /// A copy that a link held up, and the leave right behind it: what was claimed is nobody's, and the next claim follows.
    @Test mutating func joinWhoseConnectionLeftIsRefusedInItsTurn() throws {
        let first = try self.waiting(1, session: "s-ann.good", at: self.now)
        let second = try self.waiting(2, session: "s-ann.good", at: self.now)
        let third = try self.waiting(3, session: "s-ann.good", at: self.now)
        _ = try self.waiting(4, at: self.now)
        for connection: UInt64 in [1, 2, 4] {
            self.joins.abandon(
                of: connection, from: Scene.g1, at: self.now, with: &self.services, into: &self.actions)
        }
        #expect(self.refusals == [4: .unavailable] && self.joins.tags == [first, second, third])
        self.joins.claimAnswered(
            .claim(.granted(sessionEpoch: 2, number: 0)), for: first, at: self.now, with: &self.services,
            into: &self.actions)
        while let retry = self.services.questions.popRetry(at: self.now), case .claim(let tag) = retry.purpose {
            self.joins.claim(tag, at: self.now, with: &self.services, into: &self.actions)
        }
        #expect(self.refusals.count == 3 && self.joins.tags == [third])
        #expect(self.questions.count == 2)
    }

    /// The database might answer both claims in either order: the app is back through another gateway meanwhile.
    @Test mutating func claimOfAGatewayThatIsGoneKeepsItsTurn() throws {
        let first = try self.waiting(1, session: "s-ann.good", at: self.now)
        let second = try self.waiting(2, session: "s-ann.good", at: self.now)
        let without = try self.waiting(3, at: self.now)
        for tag in [first, without] { self.joins.forget(tag, at: self.now, with: &self.services) }
        #expect(self.joins.tags == [first, second] && self.questions.count == 1)
        self.joins.claimAnswered(
            .claim(.granted(sessionEpoch: 2, number: 0)), for: first, at: self.now, with: &self.services,
            into: &self.actions)
        #expect(self.services.questions.popRetry(at: self.now)?.purpose == .claim(second))
        #expect(self.refusals.isEmpty && self.joins.tags == [second])
    }

    @Test mutating func claimGoesOnWhenItsGatewayIsBackAndAsksAgain() throws {
        let tag = try self.waiting(1, session: "s-ann.good", at: self.now)
        self.joins.forget(tag, at: self.now, with: &self.services)
        #expect(self.receive(1, session: "s-ann.good", at: self.now) == nil)
        self.joins.claimAnswered(
            .claim(.granted(sessionEpoch: 2, number: 0)), for: tag, at: self.now, with: &self.services,
            into: &self.actions)
        #expect(self.joins.tags == [tag] && self.services.joins[tag]?.granted?.sessionEpoch == 2)
    }

    /// Its gateway has turned to another fan-out and back, its app left there: the earlier join would end the later one.
    @Test mutating func joinOfAConnectionThatJoinsAnewIsOver() throws {
        _ = try self.waiting(1, connection: 7, at: self.now)
        self.joins.gatewayMoved(Scene.g1, with: &self.services)
        let later = try self.waiting(2, connection: 7, at: self.now)
        #expect(self.refusals == [1: .unavailable] && self.joins.tags == [later])
    }

    /// A gateway sends its joins again every second: no other connection's are looked at then.
    @Test mutating func joinsAreListedByTheirConnections() throws {
        let first = try self.waiting(1, connection: 7, session: "s-ann.good", at: self.now)
        let second = try self.waiting(2, connection: 7, session: "s-ann.good", at: self.now)
        let other = try self.waiting(3, connection: 8, at: self.now)
        let seventh = RoomJoins.Connection(gateway: Scene.g1, number: 7)
        let eighth = RoomJoins.Connection(gateway: Scene.g1, number: 8)
        #expect(self.joins.tagsByConnection == [seventh: [first, second], eighth: [other]])
        self.joins.remove(second, at: self.now, with: &self.services)
        #expect(self.joins.tagsByConnection == [seventh: [first], eighth: [other]])
        for tag in [first, other] { self.joins.remove(tag, at: self.now, with: &self.services) }
        #expect(self.joins.tagsByConnection.isEmpty)
    }
}
