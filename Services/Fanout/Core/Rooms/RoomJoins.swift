internal import Timing
internal import Wire

/// The joins that wait for one room, in the order in which they came, and the sessions that they claim.
///
///     received ──► identified ──► its session claimed, after older claims of it ──► answered by the room
///                      │                       └──► refused by the database ─┐
///                      └──► foreign session ─────────────────────────────────┴──► refused, as at the deadline
///
/// One whose connection has left is refused, too: it may come late, through a link that was held up, and must not take its
/// session from whoever has joined with it meanwhile.
///
/// A join whose app may have seen more than the room has is answered when the room is proven to have everything.
struct RoomJoins: Sendable {
    struct Connection: Hashable, Sendable {
        let gateway: GatewayID
        let number: UInt64
    }

    private let room: Identifier
    /// In the order in which they came.
    private(set) var tags: [UInt64] = []
    /// Those of each connection: usually one. Gateways send joins again every second, which is looked at each time.
    private(set) var tagsByConnection: [Connection: [UInt64]] = [:]
    private var claims = ClaimQueues()
    /// As of when the room was proven to have everything when that was looked at last.
    private var provenAt: Instant?
    /// True while that will be looked at.
    private var awaitsProof = false

    private static let foreignSession = Refusal(.sessionExpired, "The session is not known; join without it.")

    init(of room: Identifier) { self.room = room }

    var isEmpty: Bool { self.tags.isEmpty }

    // MARK: In and out

    /// A connection asks to join.
    /// - Parameter granted: the session that this very join was answered with before.
    /// - Returns: the join's tag; nil when it waits already, or was refused.
    mutating func received(
        _ join: Join, granted: GrantedSession? = nil, from gateway: GatewayID, at now: Instant,
        with services: inout RoomServices, into actions: inout [FanoutAction]
    ) -> UInt64? {
        // Joins of a connection follow each other: an earlier one is over, and must not end this one.
        self.abandon(of: join.connection, but: join.request, from: gateway, at: now, with: &services, into: &actions)
        let pending = PendingJoin(join, granted: granted, from: gateway, at: now, limits: services.limits)
        guard let tag = services.joins.enqueue(pending) else { return nil }
        self.tags.append(tag)
        self.tagsByConnection[Connection(gateway: gateway, number: join.connection), default: []].append(tag)
        services.deadlines.set(.joins, for: self.room, at: pending.expiresAt)
        self.identify(tag, at: now, with: &services, into: &actions)
        return services.joins[tag] == nil ? nil : tag
    }

    /// A join was answered, or needs no answer.
    mutating func remove(_ tag: UInt64, at now: Instant, with services: inout RoomServices) {
        self.endClaim(of: tag, at: now, with: &services)
        guard let removed = services.joins.remove(tag) else { return }
        self.tags.removeAll { $0 == tag }
        let connection = Connection(gateway: removed.gateway, number: removed.join.connection)
        self.tagsByConnection[connection]?.removeAll { $0 == tag }
        if self.tagsByConnection[connection]?.isEmpty == true { self.tagsByConnection[connection] = nil }
    }

    mutating func refuse(
        _ tag: UInt64, with refusal: Refusal, at now: Instant, services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        guard let pending = services.joins[tag] else { return }
        self.remove(tag, at: now, with: &services)
        if pending.isForgotten { return }
        services.refuse(pending.join, from: pending.gateway, with: refusal, into: &actions)
    }

    /// Refuses the joins that have waited too long; false when there are none.
    mutating func refuseExpired(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) -> Bool {
        let refusal = Refusal(.unavailable, "The database is not reachable.", retryAfterMs: 1000)
        let count = self.tags.count
        while let tag = self.tags.first, let pending = services.joins[tag], pending.expiresAt <= now {
            self.refuse(tag, with: refusal, at: now, services: &services, into: &actions)
        }
        return self.tags.count < count
    }

    /// A gateway that had turned to another fan-out is back, and names connections: the other one has answered their joins.
    /// One that is not answered yet comes again.
    mutating func answeredElsewhere(
        _ interest: RoomInterest, from gateway: GatewayID, at now: Instant, with services: inout RoomServices
    ) {
        let named = Set(interest.occupants.map(\.connection))
        for tag in self.tags {
            guard let pending = services.joins[tag], pending.leavesAfter, pending.gateway == gateway,
                named.contains(pending.join.connection)
            else { continue }
            self.remove(tag, at: now, with: &services)
        }
    }

    /// A gateway asks another fan-out from now on: what it asked here is answered, and its connections leave after that.
    func gatewayMoved(_ gateway: GatewayID, with services: inout RoomServices) {
        services.joins.setLeaving(self.tags, from: gateway)
    }

    /// A join's gateway is gone. One that claims a session keeps its place in line until the claim is answered, so that
    /// claims stay in order: the app may be back through another gateway.
    mutating func forget(_ tag: UInt64, at now: Instant, with services: inout RoomServices) {
        if services.joins[tag]?.claimedSession != nil {
            services.joins.forget(tag)
        } else {
            self.remove(tag, at: now, with: &services)
        }
    }

    /// Gives up the joins of a connection that has left, or all but one request when it joins again. Those that claim a
    /// session keep their place, too.
    mutating func abandon(
        of connection: UInt64, but request: UInt64? = nil, from gateway: GatewayID, at now: Instant,
        with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        for tag in self.tagsByConnection[Connection(gateway: gateway, number: connection)] ?? [] {
            guard let pending = services.joins[tag], pending.join.request != request else { continue }
            if pending.claimedSession != nil {
                services.joins.abandon(tag)
            } else {
                self.refuse(tag, with: .connectionLeft, at: now, services: &services, into: &actions)
            }
        }
    }

    // MARK: Sessions

    /// Looks at the session that a join came with, as soon as that can be judged.
    mutating func identify(
        _ tag: UInt64, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard let issuer = services.issuer, services.joins[tag]?.session == .unknown else { return }
        guard services.joins[tag]?.identify(by: issuer) == true else {
            return self.refuse(tag, with: Self.foreignSession, at: now, services: &services, into: &actions)
        }
        guard let sid = services.joins[tag]?.claimedSession, self.claims.enqueue(tag, for: sid) else { return }
        self.claim(tag, at: now, with: &services, into: &actions)
    }

    mutating func claim(
        _ tag: UInt64, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard let pending = services.joins[tag], let sid = pending.claimedSession else { return }
        if pending.isOver {
            return self.refuse(tag, with: .connectionLeft, at: now, services: &services, into: &actions)
        }
        services.questions.ask(
            .claim(room: self.room, sid: sid, user: pending.join.member.user), for: .room(self.room, .claim(tag)),
            into: &actions)
    }

    /// The database answered a claim, or could not, so that it is asked again.
    mutating func claimAnswered(
        _ reply: DatabaseReply, for tag: UInt64, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        guard let pending = services.joins[tag] else { return }
        if pending.isOver {
            return self.refuse(tag, with: .connectionLeft, at: now, services: &services, into: &actions)
        }
        guard case .claim(let outcome) = reply else {
            return services.questions.retry(.claim(tag), of: self.room, at: now + services.limits.retryDelay)
        }
        self.endClaim(of: tag, at: now, with: &services)
        guard services.joins[tag]?.claimAnswered(outcome) != true else { return }
        self.refuse(tag, with: Self.foreignSession, at: now, services: &services, into: &actions)
    }

    /// A join has its session, or does not need it any more: the next one that claims the same session does so now.
    private mutating func endClaim(of tag: UInt64, at now: Instant, with services: inout RoomServices) {
        guard let sid = services.joins[tag]?.claimedSession, let next = self.claims.remove(tag, for: sid)
        else { return }
        services.questions.retry(.claim(next), of: self.room, at: now)
    }

    // MARK: Proofs

    /// True when the room, which is at `seq`, may answer a join.
    func isReady(_ join: PendingJoin, at seq: UInt64, in history: DatabaseHistory) -> Bool {
        join.isReady(at: seq, in: history, provenAt: self.provenAt)
    }

    /// All updates of the shard are proven to have been seen as of a moment; nil: one is missing.
    mutating func proven(at moment: Instant?) { self.provenAt = moment }

    /// Looks soon whether the room has everything.
    mutating func awaitProof(at now: Instant, with services: inout RoomServices) {
        if exchange(&self.awaitsProof, with: true) { return }
        services.deadlines.set(.proofs, for: self.room, at: now + services.limits.headInterval)
    }

    /// It was looked at, and is again while joins wait.
    mutating func proofReviewed(at now: Instant, with services: inout RoomServices) {
        self.awaitsProof = false
        if !self.isEmpty { self.awaitProof(at: now, with: &services) }
    }
}

/// The joins that claim sessions of one room, by tag and in the order in which they came. Claims of one session are asked
/// one after the other, because the database could answer two at a time in either order: whoever joined last owns it.
struct ClaimQueues: Sendable {
    private var tags: [Identifier: [UInt64]] = [:]

    /// A join claims a session.
    /// - Returns: whether it is its turn.
    mutating func enqueue(_ tag: UInt64, for sid: Identifier) -> Bool {
        self.tags[sid, default: []].append(tag)
        return self.tags[sid]?.count == 1
    }

    /// A join has its session, or does not need it any more.
    /// - Returns: the join whose turn it is now; nil when the turn does not change, or nobody waits.
    mutating func remove(_ tag: UInt64, for sid: Identifier) -> UInt64? {
        guard let index = self.tags[sid]?.firstIndex(of: tag) else { return nil }
        self.tags[sid]?.remove(at: index)
        guard let next = self.tags[sid]?.first else {
            self.tags[sid] = nil
            return nil
        }
        return index == 0 ? next : nil
    }
}
