package import Wire

/// Joins and reads of rooms.
extension Fanout {
    /// A connection asks to join a room.
    package mutating func joinReceived(
        _ join: Join, from gateway: GatewayID, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard self.gateways[gateway]?.isUp == true else { return }
        guard self.waitingCount < self.limits.waiting, let place = self.open(join.room, into: &actions) else {
            let busy = Refusal(.busy, "Too many rooms or joins are waiting.", retryAfterMs: 1000)
            self.refuse(join, with: busy, to: gateway, into: &actions)
            return
        }
        self.rooms[place].dropAt = nil
        let key = JoinKey(gateway: gateway, request: join.request)
        if let tag = self.joinTags[key] {
            // Asked again: whatever made the connection leave meanwhile is over.
            self.joins[tag]?.leavesAfter = false
            return
        }
        self.lastTag += 1
        let tag = self.lastTag
        let followsUntil = now &+ self.limits.readPatience
        self.joins[tag] = PendingJoin(gateway: gateway, join: join, followsUntil: followsUntil)
        if join.after > 0 { self.followDeadlines.set(join.room, at: followsUntil) }
        self.joinTags[key] = tag
        self.rooms[place].joins.append(tag)
        self.joinDeadlines.set(tag, at: now &+ self.limits.joinDeadline)
        self.startSession(of: tag, at: now, into: &actions)
        self.advanceJoin(tag, in: place, at: now, into: &actions)
        self.reviewIdleIfLive(place, at: now)
    }

    /// A gateway wants a room's state for somebody who does not join.
    package mutating func roomReadReceived(
        _ read: RoomRead, from gateway: GatewayID, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard self.gateways[gateway]?.isUp == true else { return }
        guard self.waitingCount < self.limits.waiting, let place = self.open(read.room, into: &actions) else {
            self.refuse(request: read.request, of: read.room, to: gateway, into: &actions)
            return
        }
        let deadline = now &+ self.limits.joinDeadline
        let followsUntil = now &+ self.limits.readPatience
        self.rooms[place].reads.append(
            Room.Read(
                gateway: gateway, request: read.request, deadline: deadline, after: read.after,
                followsUntil: followsUntil))
        if read.after > 0 { self.followDeadlines.set(read.room, at: followsUntil) }
        self.readCount += 1
        if !self.rooms[place].isLive { self.readDeadlines.set(read.room, at: deadline) }
        self.answerReads(in: place, at: now, into: &actions)
    }

    // MARK: Sessions

    /// Looks at the session that a join came with.
    mutating func startSession(of tag: UInt64, at now: UInt64, into actions: inout [FanoutAction]) {
        guard let issuer = self.issuer, let pending = self.joins[tag], pending.session == .unknown else { return }
        let join = pending.join
        if join.session.isEmpty {
            self.joins[tag]?.session = .new
        } else if let sid = issuer.verify(join.session, join.room, join.member.user) {
            self.joins[tag]?.session = .claiming(sid: sid)
            self.claim(tag, into: &actions)
        } else {
            self.finish(tag)
            self.refuse(join, with: Self.foreignSession, to: pending.gateway, into: &actions)
        }
    }

    mutating func claim(_ tag: UInt64, into actions: inout [FanoutAction]) {
        guard let pending = self.joins[tag], case .claiming(let sid) = pending.session else { return }
        _ = self.ask(
            .claim(room: pending.join.room, sid: sid, user: pending.join.member.user), for: .claim(join: tag),
            into: &actions)
    }

    mutating func claimAnswered(
        _ tag: UInt64, _ outcome: ClaimOutcome, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard let pending = self.joins[tag], case .claiming(let sid) = pending.session,
            let place = self.places[pending.join.room]
        else { return }
        switch outcome {
        case .granted(let claim, let number):
            self.joins[tag]?.session = .claimed(sid: sid, claim: claim, number: number)
            self.advanceJoin(tag, in: place, at: now, into: &actions)
        case .refused:
            self.finish(tag)
            self.refuse(pending.join, with: Self.foreignSession, to: pending.gateway, into: &actions)
        }
        self.reviewIdleIfLive(place, at: now)
    }

    // MARK: Answers

    /// Answers every join of a room that has all that it needs.
    mutating func advanceJoins(in place: Int, at now: UInt64, into actions: inout [FanoutAction]) {
        guard self.rooms[place].isLive, !self.rooms[place].joins.isEmpty else { return }
        for tag in self.rooms[place].joins {
            self.advanceJoin(tag, in: place, at: now, into: &actions)
        }
        self.reviewIdleIfLive(place, at: now)
    }

    /// Answers a join, if it has all that it needs.
    mutating func advanceJoin(
        _ tag: UInt64, in place: Int, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard let pending = self.joins[tag], self.rooms[place].isLive,
            self.rooms[place].catchUps[pending.gateway] == nil,
            pending.join.after <= self.rooms[place].seq || now >= pending.followsUntil
        else { return }
        switch pending.session {
        case .unknown, .claiming: return
        case .new, .claimed: break
        }
        guard let content = self.content(for: tag, pending, in: place, into: &actions) else { return }
        self.finish(tag)
        if case .elements(let json) = content, json.count > self.limits.replyBytes {
            let refusal = Refusal(.tooLarge, "The room is too large to be sent.")
            self.refuse(pending.join, with: refusal, to: pending.gateway, into: &actions)
            return
        }
        self.admit(pending, to: place, with: content, at: now, into: &actions)
    }

    /// What a join gets; nil while the log is asked.
    private mutating func content(
        for tag: UInt64, _ pending: PendingJoin, in place: Int, into actions: inout [FanoutAction]
    ) -> RoomContent? {
        if let resume = pending.join.resume, resume.epoch == self.epoch, !self.isEpochStale {
            var rows: [Update] = []
            switch pending.replay {
            case .asked: return nil
            case .answered(let answer): rows = answer
            case .notAsked: break
            }
            if let missed = self.rooms[place].missed(after: resume.seq, rows: rows, limits: self.limits) {
                self.counters.replays += 1
                return .updates(missed)
            }
            if case .notAsked = pending.replay, self.isReplayable(resume.seq, in: place) {
                self.joins[tag]?.replay = .asked
                _ = self.ask(
                    .roomLog(pending.join.room, after: resume.seq, limit: self.limits.replay),
                    for: .replay(join: tag), into: &actions)
                return nil
            }
        }
        self.counters.snapshots += 1
        return .elements(self.rooms[place].elements.snapshot())
    }

    /// Lets a connection in, and tells everybody.
    private mutating func admit(
        _ pending: PendingJoin, to place: Int, with content: RoomContent, at now: UInt64,
        into actions: inout [FanoutAction]
    ) {
        guard let issuer = self.issuer else { return }
        let join = pending.join
        let wasIn = self.rooms[place].occupancy.holds(join.connection)
        let joined = self.rooms[place].occupancy.enter(join.connection, at: pending.gateway, as: join.member)
        self.gateways[pending.gateway]?.rooms.insert(place)
        self.rooms[place].occupancy.stream(true, to: pending.gateway)
        var secret = join.session
        var sid: Identifier = ""
        var claim: UInt32 = 1
        var number: UInt64 = 0
        if case .claimed(let claimedSid, let newest, let highest) = pending.session {
            (sid, claim, number) = (claimedSid, newest, highest)
            if (self.rooms[place].owners[sid]?.claim ?? 0) < claim {
                self.rooms[place].owners[sid] = Room.Owner(claim: claim, connection: join.connection)
                self.rooms[place].sids[join.connection] = sid
                let news = SessionClaimed(room: join.room, sid: sid, claim: claim)
                self.tell(.sessionClaimed(news), in: place, into: &actions)
            }
        } else {
            (sid, secret) = issuer.issue(join.room, join.member.user)
        }
        if wasIn { self.endGestures(of: join, but: sid, in: place, at: now, into: &actions) }
        let outcome = JoinReply.Joined(
            position: self.position(of: place), content: content, members: self.rooms[place].occupancy.members,
            session: secret, sid: sid, claim: claim, number: number)
        let reply = JoinReply(
            request: join.request, room: join.room, connection: join.connection, outcome: .success(outcome))
        actions.append(.send(.joinReply(reply), to: pending.gateway))
        if let joined, self.rooms[place].occupancy.connectionCount > 1 {
            self.announce(joined, hasJoined: true, except: join.connection, in: place, into: &actions)
        }
        self.account(place)
        if pending.leavesAfter { self.depart(join.connection, from: place, at: now, into: &actions) }
    }

    /// A connection that joins again under another session leaves its gestures behind.
    private mutating func endGestures(
        of join: Join, but sid: Identifier, in place: Int, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        let ended = self.rooms[place].endGestures(
            of: join.connection, user: join.member.user, but: sid, at: now)
        for gesture in ended { self.tell(.gestureEnded(gesture), in: place, into: &actions) }
    }

    /// Answers the reads that wait for a room, but those that wait for an update which is still on its way.
    mutating func answerReads(in place: Int, at now: UInt64, into actions: inout [FanoutAction]) {
        guard self.rooms[place].isLive else { return }
        let seq = self.rooms[place].seq
        let due = self.rooms[place].reads.filter { $0.after <= seq || now >= $0.followsUntil }
        for read in due {
            let json = self.rooms[place].elements.snapshot()
            var outcome = RoomState.Outcome.state(self.position(of: place), elements: json)
            if seq == 0 { outcome = .neverUsed }
            if json.count > self.limits.replyBytes { outcome = .unavailable }
            let state = RoomState(request: read.request, room: self.rooms[place].name, outcome: outcome)
            actions.append(.send(.roomState(state), to: read.gateway))
        }
        self.readCount -= due.count
        self.rooms[place].reads.removeAll { $0.after <= seq || now >= $0.followsUntil }
        self.account(place)
        self.reviewIdle(place, at: now)
    }

    /// Answers the joins and reads that waited for an update: it came, or it is waited for no longer.
    mutating func answerFollowers(in place: Int, at now: UInt64, into actions: inout [FanoutAction]) {
        self.advanceJoins(in: place, at: now, into: &actions)
        if !self.rooms[place].reads.isEmpty { self.answerReads(in: place, at: now, into: &actions) }
    }

    // MARK: Refusals

    private static let foreignSession = Refusal(.sessionExpired, "The session is not known; join without it.")

    /// Takes a join out of the books; its room is reviewed by the caller.
    mutating func finish(_ tag: UInt64) {
        guard let pending = self.joins.removeValue(forKey: tag) else { return }
        self.joinTags.removeValue(forKey: JoinKey(gateway: pending.gateway, request: pending.join.request))
        guard let place = self.places[pending.join.room] else { return }
        self.rooms[place].joins.removeAll { $0 == tag }
    }

    /// Takes a join out of the books because nobody waits for it.
    mutating func forgetJoin(_ tag: UInt64, at now: UInt64) {
        guard let room = self.joins[tag]?.join.room else { return }
        self.finish(tag)
        if let place = self.places[room] { self.reviewIdle(place, at: now) }
    }

    /// A join waited too long.
    mutating func joinExpired(_ tag: UInt64, at now: UInt64, into actions: inout [FanoutAction]) {
        guard let pending = self.joins[tag] else { return }
        let refusal = Refusal(.unavailable, "The database is not reachable.", retryAfterMs: 1000)
        self.refuse(pending.join, with: refusal, to: pending.gateway, into: &actions)
        self.forgetJoin(tag, at: now)
    }

    /// Reads of a room waited too long.
    mutating func readsExpired(in room: Identifier, at now: UInt64, into actions: inout [FanoutAction]) {
        guard let place = self.places[room] else { return }
        for read in self.rooms[place].reads where read.deadline <= now {
            self.refuse(request: read.request, of: room, to: read.gateway, into: &actions)
            self.readCount -= 1
        }
        self.rooms[place].reads.removeAll { $0.deadline <= now }
        self.reviewIdle(place, at: now)
    }

    private mutating func refuse(
        _ join: Join, with refusal: Refusal, to gateway: GatewayID, into actions: inout [FanoutAction]
    ) {
        self.counters.refusals += 1
        let reply = JoinReply(
            request: join.request, room: join.room, connection: join.connection, outcome: .failure(refusal))
        actions.append(.send(.joinReply(reply), to: gateway))
    }

    private mutating func refuse(
        request: UInt64, of room: Identifier, to gateway: GatewayID, into actions: inout [FanoutAction]
    ) {
        self.counters.refusals += 1
        let state = RoomState(request: request, room: room, outcome: .unavailable)
        actions.append(.send(.roomState(state), to: gateway))
    }

    /// A room that is still being loaded is reviewed when the load is answered.
    mutating func reviewIdleIfLive(_ place: Int, at now: UInt64) {
        if self.rooms[place].isLive { self.reviewIdle(place, at: now) }
    }
}
