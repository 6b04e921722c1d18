internal import Timing
internal import Wire

/// Joins and reads, and what they are answered.
extension Room {
    private static let foreignSession = Refusal(.sessionExpired, "The session is not known; join without it.")

    mutating func joinReceived(
        _ join: Join, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        self.idleUntil = nil
        guard let tag = services.joins.enqueue(join, from: gateway, at: now, limits: services.limits) else { return }
        self.joins.append(tag)
        self.watchFollower(of: join.after, at: now, with: &services)
        self.identify(tag, with: &services, into: &actions)
        self.advanceJoin(tag, at: now, with: &services, into: &actions)
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
        self.watchFollower(of: read.after, at: now, with: &services)
        if !self.stream.isLive { services.deadlines.set(.reads, for: self.name, at: expiresAt) }
        self.answerReads(at: now, with: &services, into: &actions)
    }

    private func watchFollower(of seq: UInt64, at now: Instant, with services: inout RoomServices) {
        guard seq > 0 else { return }
        services.deadlines.set(.followers, for: self.name, at: now + services.limits.readPatience)
    }

    /// A room that is still being loaded is reviewed when the load is answered.
    private mutating func reviewIdleIfLive(at now: Instant, with services: inout RoomServices) {
        if self.stream.isLive { self.reviewIdle(at: now, with: &services) }
    }

    // MARK: Sessions

    /// Looks at the session that a join came with, as soon as it can be known.
    mutating func identify(_ tag: UInt64, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard let issuer = services.issuer else { return }
        switch services.joins.identify(tag, by: issuer) {
        case .settled, .new: break
        case .claiming: self.claim(tag, with: &services, into: &actions)
        case .foreign: self.refuse(join: tag, with: Self.foreignSession, services: &services, into: &actions)
        }
    }

    /// Asks the database to give a join's session to its connection.
    func claim(_ tag: UInt64, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard let pending = services.joins[tag], case .claiming(let sid) = pending.session else { return }
        services.questions.ask(
            .claim(room: self.name, sid: sid, user: pending.join.member.user), for: .room(self.name, .claim(tag)),
            into: &actions)
    }

    mutating func claimAnswered(
        _ reply: DatabaseReply, for tag: UInt64, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        guard let pending = services.joins[tag], case .claiming(let sid) = pending.session else { return }
        switch reply {
        case .claim(.granted(let claim, let number)):
            services.joins[tag]?.session = .claimed(sid: sid, claim: claim, number: number)
            self.advanceJoin(tag, at: now, with: &services, into: &actions)
        case .claim(.refused):
            self.refuse(join: tag, with: Self.foreignSession, services: &services, into: &actions)
        default:
            return services.questions.retry(.claim(tag), of: self.name, at: now + services.limits.retryDelay)
        }
        self.reviewIdleIfLive(at: now, with: &services)
    }

    // MARK: Answers to joins

    /// Answers every join that has all that it needs, in the order in which they came.
    mutating func advanceJoins(at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard self.stream.isLive, !self.joins.isEmpty else { return }
        for tag in self.joins { self.advanceJoin(tag, at: now, with: &services, into: &actions) }
        self.reviewIdle(at: now, with: &services)
    }

    /// Answers a join, if it has all that it needs.
    mutating func advanceJoin(
        _ tag: UInt64, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard self.stream.isLive, let pending = services.joins[tag], pending.isReady(at: self.stream.seq, now),
            !self.catchUps.includes(pending.gateway),
            let content = self.content(for: tag, pending, with: &services, into: &actions)
        else { return }
        if case .elements(let json) = content, json.count > services.limits.replyBytes {
            let refusal = Refusal(.tooLarge, "The room is too large to be sent.")
            return self.refuse(join: tag, with: refusal, services: &services, into: &actions)
        }
        self.remove(join: tag, with: &services)
        self.admit(pending, with: content, at: now, services: &services, into: &actions)
    }

    /// What a join is answered; nil while the log is read for it.
    private mutating func content(
        for tag: UInt64, _ pending: PendingJoin, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) -> RoomContent? {
        if let resume = pending.join.resume, services.history.isResumable(resume) {
            if case .asked = pending.replay { return nil }
            if let missed = self.stream.missed(
                after: resume.seq, rows: pending.replay.rows ?? [], limits: services.limits)
            {
                services.counters.replays += 1
                return .updates(missed)
            }
            if case .notAsked = pending.replay,
                self.stream.isReplayable(after: resume.seq, limits: services.limits)
            {
                services.joins[tag]?.replay = .asked
                services.questions.ask(
                    .roomLog(self.name, after: resume.seq, limit: services.limits.replay),
                    for: .room(self.name, .replay(tag)), into: &actions)
                return nil
            }
        }
        services.counters.snapshots += 1
        return .elements(self.elements.snapshot())
    }

    /// Makes a connection a member, answers it and tells the others.
    private mutating func admit(
        _ pending: PendingJoin, with content: RoomContent, at now: Instant, services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        guard let issuer = services.issuer else { return }
        let join = pending.join
        let wasIn = self.occupancy.includes(join.connection)
        let joined = self.occupancy.enter(join.connection, at: pending.gateway, as: join.member)
        self.occupancy.stream(true, to: pending.gateway)
        var session = (sid: Identifier(""), secret: join.session)
        var (claim, number) = (UInt32(1), UInt64(0))
        if case .claimed(let sid, let newest, let highest) = pending.session {
            (session.sid, claim, number) = (sid, newest, highest)
            if self.owners.claimed(sid, claim, by: join.connection) {
                self.broadcast(
                    .sessionClaimed(SessionClaimed(room: self.name, sid: sid, claim: claim)), into: &actions)
            }
        } else {
            session = issuer.issue(join.room, join.member.user)
        }
        if wasIn {
            // Joined again under another session, it leaves its gestures behind.
            self.endGestures(
                of: join.connection, user: join.member.user, but: session.sid, at: now, into: &actions)
        }
        let outcome = JoinReply.Joined(
            position: services.history.position(at: self.stream.seq), content: content,
            members: self.occupancy.members, session: session.secret, sid: session.sid, claim: claim, number: number)
        actions.append(.send(.joinReply(join.reply(.success(outcome))), to: pending.gateway))
        if let joined, self.occupancy.connectionCount > 1 {
            self.announce(joined, hasJoined: true, except: join.connection, into: &actions)
        }
        self.recount()
        if pending.leavesAfter { self.depart(join.connection, at: now, with: &services, into: &actions) }
    }

    // MARK: Answers to reads

    /// Answers the reads that wait for the room, but those whose update is still on its way.
    mutating func answerReads(at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard self.stream.isLive else { return }
        let seq = self.stream.seq
        for pending in self.reads.dequeueReady(at: seq, now) {
            let json = self.elements.snapshot()
            var outcome = RoomState.Outcome.state(services.history.position(at: seq), elements: json)
            if seq == 0 { outcome = .neverUsed }
            if json.count > services.limits.replyBytes { outcome = .unavailable }
            actions.append(.send(.roomState(pending.read.reply(outcome)), to: pending.gateway))
        }
        self.recount()
        self.reviewIdle(at: now, with: &services)
    }

    /// Answers the joins and reads that waited for an update: it came, or is waited for no longer.
    mutating func answerFollowers(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        self.advanceJoins(at: now, with: &services, into: &actions)
        if !self.reads.isEmpty { self.answerReads(at: now, with: &services, into: &actions) }
    }

    // MARK: Refusals

    /// Forgets a join that waits.
    mutating func remove(join tag: UInt64, with services: inout RoomServices) {
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

    /// A join waited too long for the database.
    mutating func joinExpired(
        _ tag: UInt64, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let refusal = Refusal(.unavailable, "The database is not reachable.", retryAfterMs: 1000)
        self.refuse(join: tag, with: refusal, services: &services, into: &actions)
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
