package import Timing
package import Wire

/// Joins and leaves: the apps' wishes, and what comes of them.
extension Gateway {
    /// An app asks for a room.
    mutating func join(
        _ event: IncomingEvent, room: Identifier, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let slot = event.slot
        let wantsPreviews = self.connections[slot]?.wantsPreviews ?? true
        let request = try JoinRequest(event.payload, wantsPreviews: wantsPreviews)
        try self.connections[slot]?.checkJoin(of: room, maxRooms: self.limits.rooms)
        try self.joins.checkRoom(for: self.connections.id(in: slot))
        for (room, wantsPreviews) in self.connections[slot]?.becomeModern() ?? [] {
            self.streams.becomeModern(slot, in: room, wantsPreviews: wantsPreviews)
        }
        self.start(request, of: room, slot: slot, ackID: event.ackID, at: event.now, into: &actions)
    }

    /// Puts a join in the queue.
    mutating func start(
        _ request: JoinRequest, of room: Identifier, slot: Slot, ackID: UInt64?, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        self.connections[slot]?.startJoin(of: room, wantsPreviews: request.wantsPreviews)
        guard let member = self.connections[slot]?.identity.member else { return }
        let record = Join(
            request: self.newRequest(), room: room, connection: self.connections.id(in: slot), member: member,
            session: request.session, resume: request.resume)
        self.joins.enqueue(record, from: slot, ackID: ackID, wantsPreviews: request.wantsPreviews, at: now)
        self.sendQueuedJoins(at: now, into: &actions)
    }

    /// Sends the joins whose turn has come.
    mutating func sendQueuedJoins(at now: Instant, into actions: inout [GatewayAction]) {
        while let join = self.joins.nextInTurn(at: now) { self.send(join, at: now, into: &actions) }
    }

    /// Sends a join to its room's fan-out, for the first time or again, while its app waits for it: the fan-out would let
    /// in a connection that has left meanwhile, and never hear that it is gone.
    mutating func send(_ join: PendingJoin, at now: Instant, into actions: inout [GatewayAction]) {
        guard self.connections.awaits(join) else { return }
        self.joins.sent(join, at: now)
        var record = join.record
        record.after = self.recent.number(in: join.room)
        actions.append(.fanout(of: join.room, .join(record)))
    }

    // MARK: Answers

    /// The fan-out answered a join.
    package mutating func joinAnswered(
        _ reply: JoinReply, at now: Instant, seconds: Int64, into actions: inout [GatewayAction]
    ) {
        self.clock = now
        guard let join = self.joins[reply.request], self.connections.awaits(join) else {
            self.joins.end(reply.request)
            return self.joinAnsweredAgain(reply, into: &actions)
        }
        switch reply.outcome {
        case .failure(let refusal):
            self.fail(join, refusal, at: now, seconds: seconds, into: &actions)
        case .success(let joined):
            if let stream = self.streams.position(of: join.room), stream.epoch == joined.position.epoch,
                stream.seq > joined.position.seq
            {
                // An answer from behind the stream: another fan-out serves the room by now.
                return self.send(join, at: now, into: &actions)
            }
            self.finish(join, joined, at: now, seconds: seconds, into: &actions)
        }
    }

    /// An answer that nobody waits for: the join was sent again, perhaps to another fan-out than the one that answered
    /// first. The room's stream goes on from this answer's position, which members here may not have reached; and the
    /// answer raised the session's claim for the same connection, which goes on with it.
    private mutating func joinAnsweredAgain(_ reply: JoinReply, into actions: inout [GatewayAction]) {
        guard case .success(let joined) = reply.outcome, let stream = self.streams.position(of: reply.room)
        else { return }
        if stream.epoch != joined.position.epoch || stream.seq < joined.position.seq {
            self.follow(self.streams.startCatchingUp(reply.room), in: reply.room, into: &actions)
        }
        guard let slot = self.connections.slot(of: reply.connection), self.streams.contains(slot, in: reply.room)
        else { return }
        self.connections[slot]?.sessionRenewed(joined, in: reply.room)
    }

    private mutating func finish(
        _ join: PendingJoin, _ joined: JoinReply.Joined, at now: Instant, seconds: Int64,
        into actions: inout [GatewayAction]
    ) {
        self.joins.end(join.record.request)
        let (slot, room) = (join.slot, join.room)
        let waiting = self.connections[slot]?.joined(room, joined, wantsPreviews: join.wantsPreviews) ?? []
        if let stream = self.streams.position(of: room), stream != joined.position {
            // The newcomer may know of commits that end what waits here.
            let previews = self.pacer.removeWaiting(of: room)
            self.deliver(previews[...], of: room, lateness: .zero, at: now, into: &actions)
        }
        let outcome = self.streams.enter(
            slot, room, at: joined.position, isLegacy: self.connections[slot]?.isLegacy ?? false,
            wantsPreviews: join.wantsPreviews, into: &actions)
        self.follow(outcome, in: room, into: &actions)
        if let ackID = join.ackID {
            let interval = self.pacer.requestedInterval(in: room)
            let json = EventText.joined(joined, room: room, throttle: interval, limits: self.limits)
            actions.append(.acknowledge(slot, id: ackID, json: json))
        }
        self.handle(waiting, from: slot, at: now, seconds: seconds, into: &actions)
    }

    private mutating func fail(
        _ join: PendingJoin, _ refusal: Refusal, at now: Instant, seconds: Int64, into actions: inout [GatewayAction]
    ) {
        self.joins.end(join.record.request)
        let origin = EventOrigin(slot: join.slot, ackID: join.ackID, event: AppEvent.roomJoin.name)
        self.connections.refuse(refusal, origin, room: join.room, into: &actions)
        guard let waiting = self.connections[join.slot]?.joinFailed(join.room) else { return }
        // Another fan-out that was asked too, or the same one later, may let it in all the same.
        actions.append(.fanout(of: join.room, .leave(Leave(room: join.room, connection: join.connection))))
        self.handle(waiting, from: join.slot, at: now, seconds: seconds, into: &actions)
    }

    /// The deadline of a join has come without an answer.
    mutating func joinExpired(
        _ join: PendingJoin, at now: Instant, seconds: Int64, into actions: inout [GatewayAction]
    ) {
        guard self.connections.contains(join.connection, in: join.slot) else {
            return self.joins.end(join.record.request)
        }
        self.fail(join, .roomUnavailable, at: now, seconds: seconds, into: &actions)
    }

    /// Handles the events that waited for a join.
    private mutating func handle(
        _ waiting: [Membership.WaitingEvent], from slot: Slot, at now: Instant, seconds: Int64,
        into actions: inout [GatewayAction]
    ) {
        for event in waiting {
            self.eventReceived(
                event.json, ackID: event.ackID, from: slot, at: now, seconds: seconds, into: &actions)
        }
    }

    // MARK: Leaving

    /// An app leaves a room.
    mutating func leave(_ event: IncomingEvent, room: Identifier, into actions: inout [GatewayAction]) {
        self.leave(room, slot: event.slot, into: &actions)
        if let ackID = event.ackID {
            actions.append(.acknowledge(event.slot, id: ackID, json: Array(#"{"ok":true}"#.utf8)))
        }
    }

    /// A connection leaves a room, on its app's wish or because a new token gives no right to it.
    mutating func leave(_ room: Identifier, slot: Slot, into actions: inout [GatewayAction]) {
        guard let membership = self.connections[slot]?.leave(room),
            let user = self.connections[slot]?.identity.member.user
        else { return }
        for gesture in membership.openGestures(of: user, in: room) { actions.append(.gestureEnd(gesture)) }
        self.end(membership, in: room, slot: slot, connection: self.connections.id(in: slot), into: &actions)
    }

    /// A connection is in a room no more. What it moved last is shown, whatever the pace.
    mutating func end(
        _ membership: Membership, in room: Identifier, slot: Slot, connection: UInt64,
        into actions: inout [GatewayAction]
    ) {
        for preview in membership.heldPreviews + self.pacer.removeUnsent(of: room) {
            self.forward(preview, into: &actions)
        }
        self.streams.leave(slot, room)
        self.forgetIfEmpty(room, into: &actions)
        actions.append(.fanout(of: room, .leave(Leave(room: room, connection: connection))))
    }

    // MARK: Sessions

    /// A session has a new owner: an older connection here loses it.
    package mutating func sessionClaimed(_ claimed: SessionClaimed) {
        for slot in self.streams.members(of: claimed.room) { self.connections[slot]?.sessionClaimed(claimed) }
        self.orphans.sessionClaimed(claimed)
    }
}

extension Refusal {
    static var roomUnavailable: Refusal {
        Refusal(.unavailable, "The room cannot be read at the moment.", retryAfterMs: 1000)
    }
}
