import Auth
import JSONBytes
package import Wire

extension Gateway {
    // MARK: From apps

    mutating func join(_ incoming: Incoming, room: Identifier) throws(Refusal) {
        let payload = incoming.payload
        var session = ""
        if let value = payload["session"] {
            guard let text = value.string, (1...256).contains(text.utf8.count) else {
                throw Refusal(.invalid, "A session is a string of 1 to 256 bytes.", field: "session")
            }
            session = text
        }
        let resume = try Self.resume(payload["resume"])
        var wantsPreviews = self.connections[incoming.slot]?.wantsPreviews ?? true
        if let value = payload["previews"] {
            guard let wanted = value.bool else {
                throw Refusal(.invalid, "previews is true or false.", field: "previews")
            }
            wantsPreviews = wantsPreviews && wanted
        }
        guard let connection = self.connections[incoming.slot] else { return }
        guard connection.identity.may(.view, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to this room.", field: "roomId")
        }
        guard connection.memberships[room] != nil || connection.memberships.count < self.limits.rooms else {
            throw Refusal(.tooLarge, "A connection may join \(self.limits.rooms) rooms.", field: "roomId")
        }
        guard connection.openJoins < self.limits.rooms, self.joins.count < self.limits.joinsWaiting else {
            self.tally.busy += 1
            throw Refusal(.busy, "Too many joins are waiting.", retryAfterMs: Custody.busyMs)
        }
        if connection.isLegacy { self.becomeModern(incoming.slot) }
        self.startJoin(
            slot: incoming.slot, ackID: incoming.ackID, room: room, session: session, resume: resume,
            wantsPreviews: wantsPreviews, at: incoming.now)
    }

    private static func resume(_ value: JSONValue?) throws(Refusal) -> Position? {
        guard let value else { return nil }
        guard value.kind == .object else {
            throw Refusal(.invalid, "resume is an object {epoch, seq}.", field: "resume")
        }
        guard let epoch = value["epoch"]?.string, epoch.utf8.count <= 128 else {
            throw Refusal(.invalid, "An epoch is a string of at most 128 bytes.", field: "resume.epoch")
        }
        guard let seq = value["seq"]?.integer, seq >= 0 else {
            throw Refusal(.invalid, "A sequence number is a whole number from 0 on.", field: "resume.seq")
        }
        return Position(epoch: Identifier(epoch), seq: UInt64(seq))
    }

    /// An app that sends `room:join` speaks the full contract from then on, in every room.
    private mutating func becomeModern(_ slot: Slot) {
        self.connections[slot]?.isLegacy = false
        guard let connection = self.connections[slot] else { return }
        for (room, membership) in connection.memberships where !membership.isJoining {
            self.rooms[room]?.add(slot, isLegacy: false, wantsPreviews: membership.wantsPreviews)
        }
    }

    mutating func startJoin(
        slot: Slot, ackID: UInt64?, room: Identifier, session: String, resume: Position?, wantsPreviews: Bool,
        at now: UInt64
    ) {
        guard let connection = self.connections[slot] else { return }
        if connection.memberships[room] == nil {
            self.connections[slot]?.memberships[room] = Membership(wantsPreviews: wantsPreviews)
        }
        let join = Join(
            request: self.newRequest(), room: room, connection: connection.id, member: connection.identity.member,
            session: session, resume: resume)
        self.joins[join.request] = JoinInFlight(
            slot: slot, connection: connection.id, ackID: ackID, join: join, wantsPreviews: wantsPreviews,
            deadline: now + self.limits.deadlineMs, sentAt: .max)
        self.connections[slot]?.openJoins += 1
        self.queuedJoins.append(join.request)
        self.releaseJoins(at: now)
    }

    /// Sends the joins whose turn it is: when all apps come back at once, fan-outs and the database get them at a rate.
    mutating func releaseJoins(at now: UInt64) {
        while let request = self.queuedJoins.first {
            guard let pending = self.joins[request], self.isHere(pending.connection, in: pending.slot) else {
                // Nobody waits for it any more.
                self.queuedJoins.removeFirst()
                self.joins[request] = nil
                continue
            }
            guard self.joinBucket.take(at: now) else { return }
            self.queuedJoins.removeFirst()
            self.repeatJoin(pending, at: now)
        }
    }

    /// Takes a join out of the books.
    mutating func endJoin(_ request: UInt64) -> JoinInFlight? {
        guard let pending = self.joins.removeValue(forKey: request) else { return nil }
        if self.isHere(pending.connection, in: pending.slot) {
            self.connections[pending.slot]?.openJoins -= 1
        }
        return pending
    }

    mutating func leave(_ incoming: Incoming, room: Identifier) {
        self.leave(slot: incoming.slot, room: room)
        if let ackID = incoming.ackID {
            self.actions.append(.acknowledge(incoming.slot, id: ackID, json: Array(#"{"ok":true}"#.utf8)))
        }
    }

    mutating func leave(slot: Slot, room: Identifier) {
        guard let connection = self.connections[slot], let membership = connection.memberships[room] else { return }
        for (element, track) in membership.elements {
            if let held = track.held { self.forward(held) }
            guard let gesture = track.openGesture else { continue }
            self.endGesture(
                GestureEnd(
                    room: room, element: element, user: connection.identity.member.user, sid: membership.sid,
                    gesture: gesture))
        }
        self.connections[slot]?.memberships[room] = nil
        self.connections[slot]?.waitingBytes -= membership.waiting.reduce(0) { $0 + $1.json.count }
        self.leaveView(slot, room: room)
        self.actions.append(
            .fanout(shard: Shard.of(room: room), .leave(Leave(room: room, connection: connection.id))))
    }

    // MARK: From the fan-out

    /// The fan-out answered a join.
    package mutating func joinReplied(_ reply: JoinReply, at now: UInt64, seconds: Int64) {
        guard let pending = self.endJoin(reply.request), self.isHere(pending.connection, in: pending.slot),
            self.connections[pending.slot]?.memberships[reply.room] != nil
        else {
            self.answeredAgain(reply)
            return
        }
        switch reply.outcome {
        case .failure(let refusal):
            self.failJoin(pending, refusal, at: now, seconds: seconds)
        case .success(let joined):
            if let view = self.rooms[reply.room], view.position.epoch == joined.position.epoch,
                view.position.seq > joined.position.seq
            {
                // An answer from behind the stream: another fan-out serves the room by now.
                self.repeatJoin(pending, at: now)
                return
            }
            self.finishJoin(pending, joined, at: now, seconds: seconds)
        }
    }

    /// An answer that nobody waits for: the join was sent again, perhaps to another fan-out than the one that answered
    /// first. The room's stream goes on from this answer's position, which members here may not have reached; and the
    /// answer raised the session's claim for the same connection, which goes on with it.
    private mutating func answeredAgain(_ reply: JoinReply) {
        guard case .success(let joined) = reply.outcome, let view = self.rooms[reply.room] else { return }
        if view.position.epoch != joined.position.epoch || view.position.seq < joined.position.seq {
            self.catchUp(reply.room)
        }
        guard let slot = self.slot(of: reply.connection, in: view),
            let membership = self.connections[slot]?.memberships[reply.room],
            membership.sid == joined.sid, membership.claim < joined.claim
        else { return }
        self.connections[slot]?.memberships[reply.room]?.take(joined)
    }

    private mutating func finishJoin(
        _ pending: JoinInFlight, _ joined: JoinReply.Joined, at now: UInt64, seconds: Int64
    ) {
        let slot = pending.slot
        let room = pending.join.room
        guard var membership = self.connections[slot]?.memberships[room] else { return }
        let waiting = membership.waiting
        membership.waiting = []
        self.connections[slot]?.waitingBytes -= waiting.reduce(0) { $0 + $1.json.count }
        membership.isJoining = false
        membership.wantsPreviews = pending.wantsPreviews
        membership.floor = joined.position.seq
        if membership.sid != joined.sid || membership.claim != joined.claim {
            membership.take(joined)
        }
        self.connections[slot]?.memberships[room] = membership
        if let view = self.rooms[room], view.position != joined.position {
            // The newcomer may know of commits that end what waits here.
            self.show(room, lateness: 0, at: now)
        }
        self.enterView(slot, room: room, position: joined.position, wantsPreviews: pending.wantsPreviews)
        if let ackID = pending.ackID {
            let json = EventText.joined(joined, room: room, throttle: self.throttle(in: room), limits: self.limits)
            self.actions.append(.acknowledge(slot, id: ackID, json: json))
        }
        for event in waiting {
            self.received(event.json, ackID: event.ackID, from: slot, at: now, seconds: seconds)
        }
    }

    private mutating func enterView(_ slot: Slot, room: Identifier, position: Position, wantsPreviews: Bool) {
        guard let connection = self.connections[slot] else { return }
        if self.rooms[room] == nil { self.rooms[room] = RoomView(position: position) }
        self.rooms[room]?.add(slot, isLegacy: connection.isLegacy, wantsPreviews: wantsPreviews)
        guard let view = self.rooms[room], view.position != position else { return }
        if view.position.epoch == position.epoch {
            // The newcomer is ahead of the stream: the others' hole is filled, and the newcomer skips what it has.
            self.rooms[room]?.hasFloors = true
            self.catchUp(room)
        } else {
            self.reset(room, to: position, except: slot)
        }
    }

    private mutating func failJoin(_ pending: JoinInFlight, _ refusal: Refusal, at now: UInt64, seconds: Int64) {
        let slot = pending.slot
        let room = pending.join.room
        self.refuse(refusal, slot: slot, ackID: pending.ackID, event: AppEvent.roomJoin.name, room: room)
        guard let membership = self.connections[slot]?.memberships[room], membership.isJoining else { return }
        self.connections[slot]?.memberships[room] = nil
        // Another fan-out that was asked too, or the same one later, may let it in all the same.
        self.actions.append(
            .fanout(shard: Shard.of(room: room), .leave(Leave(room: room, connection: pending.connection))))
        self.connections[slot]?.waitingBytes -= membership.waiting.reduce(0) { $0 + $1.json.count }
        for event in membership.waiting {
            self.received(event.json, ackID: event.ackID, from: slot, at: now, seconds: seconds)
        }
    }

    /// Sends a join to its room's fan-out, for the first time or again, while somebody waits for it: the fan-out would let
    /// in a connection that has left meanwhile, and never hear that it is gone.
    mutating func repeatJoin(_ pending: JoinInFlight, at now: UInt64) {
        guard self.isHere(pending.connection, in: pending.slot),
            self.connections[pending.slot]?.memberships[pending.join.room] != nil
        else { return }
        var pending = pending
        pending.sentAt = now
        self.joins[pending.join.request] = pending
        pending.join.after = self.recent.number(in: pending.join.room)
        self.actions.append(.fanout(shard: Shard.of(room: pending.join.room), .join(pending.join)))
    }

    mutating func joinTimedOut(_ pending: JoinInFlight, at now: UInt64, seconds: Int64) {
        _ = self.endJoin(pending.join.request)
        guard self.isHere(pending.connection, in: pending.slot) else { return }
        self.failJoin(
            pending, Refusal(.unavailable, "The room cannot be read at the moment.", retryAfterMs: 1000), at: now,
            seconds: seconds
        )
    }

    /// A session has a new owner: an older connection here loses it.
    package mutating func sessionClaimed(_ claimed: SessionClaimed) {
        for slot in self.rooms[claimed.room]?.all ?? [] {
            guard let membership = self.connections[slot]?.memberships[claimed.room],
                membership.sid == claimed.sid, membership.claim < claimed.claim
            else { continue }
            self.connections[slot]?.memberships[claimed.room]?.ownsSession = false
        }
        self.orphans.removeAll { $0.mayContinue && $0.end.room == claimed.room && $0.end.sid == claimed.sid }
    }
}
