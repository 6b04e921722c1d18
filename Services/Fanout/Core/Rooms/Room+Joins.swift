internal import Timing
internal import Wire

/// Joins and reads that wait for the room, and what they are answered.
extension Room {
    private static let foreignSession = Refusal(.sessionExpired, "The session is not known; join without it.")

    mutating func joinReceived(
        _ join: Join, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        self.stay()
        // An earlier join of the connection may be answered after this one, and must not end it.
        services.joins.setLeaving(false, of: self.joins, from: gateway) { $0 == join.connection }
        let pending = PendingJoin(join, from: gateway, at: now, limits: services.limits)
        guard let tag = services.joins.enqueue(pending) else { return }
        self.joins.append(tag)
        services.deadlines.set(.joins, for: self.name, at: pending.expiresAt)
        self.identify(tag, with: &services, into: &actions)
        self.advanceJoin(tag, at: now, with: &services, into: &actions)
        if services.joins[tag] != nil, max(join.after, join.resume?.seq ?? 0) > 0 {
            self.awaitProof(at: now, with: &services)
        }
        self.reviewIdleIfLive(at: now, with: &services)
    }

    mutating func readReceived(
        _ read: RoomRead, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let expiresAt = now + services.limits.joinDeadline
        self.reads.enqueue(
            PendingRead(
                read: read, gateway: gateway, expiresAt: expiresAt, followsUntil: now + services.limits.readPatience))
        if read.after > 0 {
            services.deadlines.set(.followers, for: self.name, at: now + services.limits.readPatience)
        }
        if !self.isLive { services.deadlines.set(.reads, for: self.name, at: expiresAt) }
        self.answerReads(at: now, with: &services, into: &actions)
    }

    /// Looks soon whether the room has everything, for joins whose app may have seen more.
    private mutating func awaitProof(at now: Instant, with services: inout RoomServices) {
        if exchange(&self.awaitsProof, with: true) { return }
        services.deadlines.set(.proofs, for: self.name, at: now + services.limits.headInterval)
    }

    // MARK: Sessions

    /// Looks at the session that a join came with, as soon as that can be judged.
    mutating func identify(_ tag: UInt64, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard let issuer = services.issuer, services.joins[tag]?.session == .unknown else { return }
        guard services.joins[tag]?.identify(by: issuer) == true else {
            return self.refuse(join: tag, with: Self.foreignSession, services: &services, into: &actions)
        }
        guard let sid = services.joins[tag]?.claimedSession, self.claims.enqueue(tag, for: sid) else { return }
        self.claim(tag, with: &services, into: &actions)
    }

    /// Claims a join's session for its connection.
    func claim(_ tag: UInt64, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard let pending = services.joins[tag], let sid = pending.claimedSession else { return }
        services.questions.ask(
            .claim(room: self.name, sid: sid, user: pending.join.member.user), for: .room(self.name, .claim(tag)),
            into: &actions)
    }

    mutating func claimAnswered(
        _ reply: DatabaseReply, for tag: UInt64, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        guard services.joins[tag] != nil else { return }
        guard case .claim(let outcome) = reply else {
            return services.questions.retry(.claim(tag), of: self.name, at: now + services.limits.retryDelay)
        }
        self.endClaim(of: tag, at: now, with: &services)
        if services.joins[tag]?.claimAnswered(outcome) == true {
            self.advanceJoin(tag, at: now, with: &services, into: &actions)
        } else {
            self.refuse(join: tag, with: Self.foreignSession, services: &services, into: &actions)
        }
        self.reviewIdleIfLive(at: now, with: &services)
    }

    /// A join has its session, or does not need it any more: the next one that claims the same session does so now.
    private mutating func endClaim(of tag: UInt64, at now: Instant, with services: inout RoomServices) {
        guard let sid = services.joins[tag]?.claimedSession, let next = self.claims.remove(tag, for: sid)
        else { return }
        services.questions.retry(.claim(next), of: self.name, at: now)
    }

    // MARK: Answers to joins

    /// Answers every join that has all that it needs, in the order in which they came.
    mutating func advanceJoins(at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard self.isLive, !self.joins.isEmpty else { return }
        for tag in self.joins { self.advanceJoin(tag, at: now, with: &services, into: &actions) }
        self.reviewIdle(at: now, with: &services)
    }

    /// Answers a join, if it has all that it needs.
    mutating func advanceJoin(
        _ tag: UInt64, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard self.isLive, let issuer = services.issuer, let pending = services.joins[tag],
            pending.isReady(at: self.feed.stream.seq, in: services.history, provenAt: self.provenAt),
            !self.feed.audience.catchUps.includes(pending.gateway),
            let content = self.feed.content(for: tag, pending, with: &services, into: &actions)
        else { return }
        if case .elements(let json) = content, json.count > services.limits.roomBytes {
            let refusal = Refusal(
                .tooLarge, "The room is too large to be sent: an operator has to delete some of its elements.",
                field: "roomId")
            return self.refuse(join: tag, with: refusal, services: &services, into: &actions)
        }
        self.remove(join: tag, with: &services)
        self.feed.admit(pending, with: content, by: issuer, at: now, services: &services, into: &actions)
        self.recount()
        if pending.leavesAfter { self.depart(pending.join.connection, at: now, with: &services, into: &actions) }
    }

    /// Answers also the joins whose app has seen more than there is: in a history that was lost, or it is mistaken.
    mutating func advanceJoinsByProof(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        self.awaitsProof = false
        self.advanceJoins(at: now, with: &services, into: &actions)
        if !self.joins.isEmpty { self.awaitProof(at: now, with: &services) }
    }

    // MARK: Answers to reads

    /// Answers the reads that wait for the room, except those that still wait for an update.
    mutating func answerReads(at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard self.isLive else { return }
        for pending in self.reads.dequeueReady(at: self.feed.stream.seq, now) {
            let outcome = self.feed.state(in: services.history, limits: services.limits)
            actions.append(.send(.roomState(pending.read.reply(outcome)), to: pending.gateway))
        }
        self.recount()
        self.reviewIdle(at: now, with: &services)
    }

    /// Answers the joins and reads that waited for an update that came.
    mutating func answerFollowers(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        self.advanceJoins(at: now, with: &services, into: &actions)
        if !self.reads.isEmpty { self.answerReads(at: now, with: &services, into: &actions) }
    }

    // MARK: Refusals

    /// A join's gateway is gone, so that it needs no answer.
    mutating func forget(join tag: UInt64, at now: Instant, with services: inout RoomServices) {
        self.endClaim(of: tag, at: now, with: &services)
        self.remove(join: tag, with: &services)
        self.reviewIdle(at: now, with: &services)
    }

    private mutating func remove(join tag: UInt64, with services: inout RoomServices) {
        guard services.joins.remove(tag) != nil else { return }
        self.joins.removeAll { $0 == tag }
    }

    private mutating func refuse(
        join tag: UInt64, with refusal: Refusal, services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard let pending = services.joins[tag] else { return }
        self.remove(join: tag, with: &services)
        services.refuse(pending.join, from: pending.gateway, with: refusal, into: &actions)
    }

    mutating func refuseExpiredJoins(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let refusal = Refusal(.unavailable, "The database is not reachable.", retryAfterMs: 1000)
        let count = self.joins.count
        while let tag = self.joins.first, let pending = services.joins[tag], pending.expiresAt <= now {
            self.endClaim(of: tag, at: now, with: &services)
            self.refuse(join: tag, with: refusal, services: &services, into: &actions)
        }
        if self.joins.count < count { self.reviewIdle(at: now, with: &services) }
    }

    mutating func refuseExpiredReads(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        for pending in self.reads.dequeueExpired(at: now) {
            services.refuse(pending.read, from: pending.gateway, into: &actions)
        }
        self.reviewIdle(at: now, with: &services)
    }
}
