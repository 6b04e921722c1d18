internal import Timing
internal import Wire

/// Joins and reads that wait for the room, and what they are answered.
extension Room {
    mutating func joinReceived(
        _ join: Join, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        // One that comes again was held up on its way, or its answer was: it must not take the session from whoever joined
        // with it meanwhile.
        if self.feed.audience.hasLostSession(join) {
            return services.refuse(join, from: gateway, with: .sessionMovedOn, into: &actions)
        }
        self.stay()
        let granted = self.feed.audience.occupancy.session(answering: join)
        let received = self.joins.received(
            join, granted: granted, from: gateway, at: now, with: &services, into: &actions)
        if let tag = received {
            self.advanceJoin(tag, at: now, with: &services, into: &actions)
            if services.joins[tag] != nil, max(join.after, join.resume?.seq ?? 0) > 0 {
                self.joins.awaitProof(at: now, with: &services)
            }
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

    // MARK: Answers to joins

    /// Answers every join that has all that it needs, in the order in which they came.
    mutating func advanceJoins(at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard self.isLive, !self.joins.isEmpty else { return }
        for tag in self.joins.tags { self.advanceJoin(tag, at: now, with: &services, into: &actions) }
        self.reviewIdle(at: now, with: &services)
    }

    /// Answers a join, if it has all that it needs.
    mutating func advanceJoin(
        _ tag: UInt64, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard self.isLive, let issuer = services.issuer, let pending = services.joins[tag],
            self.joins.isReady(pending, at: self.feed.stream.seq, in: services.history),
            !self.feed.audience.catchUps.includes(pending.gateway)
        else { return }
        switch self.feed.answer(to: tag, pending, with: &services, into: &actions) {
        case .waits: return
        case .tooLarge:
            let refusal = Refusal(
                .tooLarge, "The room is too large to be sent: an operator has to delete some of its elements.",
                field: "roomId")
            self.joins.refuse(tag, with: refusal, at: now, services: &services, into: &actions)
        case .weighs(let bytes):
            // Its gateway asks again when it has the space.
            self.joins.remove(tag, at: now, with: &services)
            let weight = AnswerWeight(
                request: pending.join.request, room: self.name, isRead: false, bytes: UInt32(clamping: bytes))
            actions.append(.send(.answerWeight(weight), to: pending.gateway))
        case .content(let content):
            self.joins.remove(tag, at: now, with: &services)
            self.feed.admit(pending, with: content, by: issuer, at: now, services: &services, into: &actions)
            if pending.leavesAfter { self.depart(pending.join.connection, at: now, with: &services, into: &actions) }
        }
    }

    /// Answers also the joins whose app has seen more than there is: in a history that was lost, or it is mistaken.
    mutating func advanceJoinsByProof(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        self.advanceJoins(at: now, with: &services, into: &actions)
        self.joins.proofReviewed(at: now, with: &services)
    }

    // MARK: Answers to reads

    /// Answers the reads that wait for the room, except those that still wait for an update.
    mutating func answerReads(at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard self.isLive else { return }
        for pending in self.reads.dequeueReady(at: self.feed.stream.seq, now) {
            let reply = self.feed.reply(to: pending.read, in: services.history, limits: services.limits)
            actions.append(.send(reply, to: pending.gateway))
        }
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

    /// A join's gateway is gone.
    mutating func forget(join tag: UInt64, at now: Instant, with services: inout RoomServices) {
        self.joins.forget(tag, at: now, with: &services)
        self.reviewIdle(at: now, with: &services)
    }

    mutating func refuseExpiredJoins(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard self.joins.refuseExpired(at: now, with: &services, into: &actions) else { return }
        self.reviewIdle(at: now, with: &services)
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
