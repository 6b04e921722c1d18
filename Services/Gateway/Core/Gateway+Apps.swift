internal import Auth
package import Timing
package import Wire

extension Gateway {
    /// An app connected and was accepted as `identity`. It joins the handshake's room immediately.
    /// - Returns: the slot that stands for it.
    package mutating func connected(
        identity: Identity, handshake: HandshakeFields, at now: Instant, into actions: inout [GatewayAction]
    ) -> Slot {
        self.clock = now
        let slot = self.relay.connections.insert(identity, handshake)
        if let room = handshake.room {
            let request = JoinRequest(options: handshake.options)
            let origin = EventOrigin(slot: slot, ackID: nil, event: AppEvent.roomJoin.name)
            self.joins.start(request, of: room, from: origin, &self.relay, at: now, into: &actions)
        }
        return slot
    }

    /// A subscriber wants a room's numbered stream.
    /// - Parameters:
    ///   - name: the room's, as the request has it.
    ///   - place: behind which it wants the updates, `epoch:seq`; nil: first the whole room.
    /// - Returns: the slot that stands for it; a ``GatewayAction/opening(_:text:)`` or ``GatewayAction/noStream(_:_:)``
    ///   follows.
    package mutating func subscribed(
        to name: String, after place: String?, as identity: Identity, at now: Instant,
        into actions: inout [GatewayAction]
    ) throws(Refusal) -> Slot {
        self.clock = now
        let room = try RoomID.parse(name)
        var request = JoinRequest(options: StreamOptions())
        request.resume = try place.map { place throws(Refusal) in try EventStreamText.position(place) }
        try self.requests.start(as: identity, at: now)
        guard identity.may(.view, in: room) else { throw .mayNotView }
        try self.joins.requireCapacity(for: identity.member.user)
        var identity = identity
        identity.member.isHidden = true
        let slot = self.relay.connections.insert(identity, HandshakeFields())
        let origin = EventOrigin(slot: slot, ackID: nil, event: AppEvent.roomJoin.name)
        self.joins.start(request, of: room, from: origin, &self.relay, at: now, into: &actions)
        return slot
    }

    /// An app disconnected. Its commits go on as if it were there.
    package mutating func disconnected(_ slot: Slot, at now: Instant, into actions: inout [GatewayAction]) {
        guard let connection = self.relay.connections.remove(slot) else { return }
        let user = connection.identity.member.user
        for (room, membership) in connection.memberships {
            if let request = membership.join { self.joins.abandon(request) }
            let ends = membership.gestureEnds
            for gesture in ends { self.orphans.add(gesture, at: now) }
            self.joins.gesturesEnded(ends.count, of: user, at: now)
            self.relay.rooms.leave(slot, connection.id, membership, in: room, into: &actions)
        }
        self.commits.leaveBehind(connection)
    }

    /// An app's connection is about to be closed: no more commits are accepted from it, and none is sent on that waits for
    /// its turn.
    package mutating func startLeaving(_ slot: Slot, into actions: inout [GatewayAction]) {
        guard self.relay.connections.isInUse(slot), let waiting = self.relay.connections.bySlot[slot]?.startLeaving()
        else { return }
        self.commits.drop(waiting, .stops, &self.relay.connections, into: &actions)
    }

    // MARK: Events

    /// An app sent an event.
    /// - Parameters:
    ///   - json: its text, which may be anything.
    ///   - ackID: the acknowledgement that the app asks for.
    ///   - isBinary: attachments belong to it, which are thrown away.
    ///   - seconds: the time since 1970, for tokens, new ids and apps that ask for it.
    /// - Returns: false when the text was no event at all, which counts against the connection.
    @discardableResult
    package mutating func eventReceived(
        _ json: [UInt8], ackID: UInt64?, from slot: Slot, isBinary: Bool = false, at now: Instant, seconds: Double,
        into actions: inout [GatewayAction]
    ) -> Bool {
        guard self.relay.connections.isInUse(slot) else { return true }
        self.clock = now
        self.reader.seconds = Int64(seconds)
        self.eventsTotal += 1
        do throws(UnreadableEvent) {
            let event = try self.reader.event(json, ackID: ackID, from: slot, isBinary: isBinary, at: now)
            self.handle(event, seconds: seconds, into: &actions)
            return true
        } catch {
            let origin = EventOrigin(slot: slot, ackID: ackID, event: error.event)
            self.relay.connections.refuse(error.refusal, origin, into: &actions)
            return error.isEvent
        }
    }

    private mutating func handle(_ event: IncomingEvent, seconds: Double, into actions: inout [GatewayAction]) {
        do throws(Refusal) {
            if let fault = event.fault, !event.isFaultOfCommit { throw fault }
            if case .authRefresh = event.event { return self.refreshToken(event, seconds: seconds, into: &actions) }
            if case .ping = event.event {
                return try self.relay.connections.pingReceived(event, seconds: seconds, into: &actions)
            }
            let room = try self.room(of: event)
            if try self.relay.connections.enqueueDuringJoin(event, room: room, self.reader) { return }
            switch event.event {
            case .roomJoin:
                try self.joins.received(event, room: room, &self.relay, into: &actions)
            case .roomLeave:
                _ = self.leave(room, slot: event.slot, into: &actions)
                self.relay.connections.acknowledge(event, into: &actions)
            case .awareness(let kind):
                try self.relay.awarenessReceived(event, kind, room: room, self.reader, into: &actions)
            case .viewport: try self.relay.viewportReceived(event, room: room, into: &actions)
            case .signal:
                try self.commits.signalReceived(event, room: room, &self.relay.connections, into: &actions)
            case .preview(let kind):
                try self.relay.previewReceived(event, kind, room: room, self.reader, into: &actions)
            case .edit(let kind):
                try self.commits.received(
                    event, kind, room: room, &self.reader, &self.relay.connections, into: &actions)
            case .authRefresh, .ping: break
            }
        } catch {
            self.relay.connections.refuse(error, event, into: &actions)
        }
    }

    private func room(of event: IncomingEvent) throws(Refusal) -> Identifier {
        do { return try event.room(unlessNamed: self.relay.connections.onlyRoom(of: event.slot)) } catch {
            throw event.fault ?? error
        }
    }

    mutating func handle(
        _ released: Joins.Released, at now: Instant, seconds: Double, into actions: inout [GatewayAction]
    ) {
        let slot = released.slot
        defer {
            if let cursor = released.events.cursor {
                self.eventReceived(cursor, ackID: nil, from: slot, at: now, seconds: seconds, into: &actions)
            }
        }
        for event in released.events.events {
            switch event {
            case .event(let json, let ackID, let isBinary):
                self.eventReceived(
                    json, ackID: ackID, from: slot, isBinary: isBinary, at: now, seconds: seconds, into: &actions)
            case .preview(let move):
                self.relay.release(move, from: slot, room: released.room, at: now, into: &actions)
            }
        }
    }

    /// A connection leaves a room, on its app's wish or because a new token gives no right to it.
    /// - Returns: what it was there; nil when it was not in the room.
    mutating func leave(_ room: Identifier, slot: Slot, into actions: inout [GatewayAction]) -> Membership? {
        guard let membership = self.relay.connections.bySlot[slot]?.leave(room),
            let user = self.relay.connections.bySlot[slot]?.identity.member.user
        else { return nil }
        let id = self.relay.connections.id(in: slot)
        if self.relay.rooms.streams.isLoading(slot, in: room) { actions.append(.dropSnapshot(slot, room: room)) }
        let ends = membership.gestureEnds
        for gesture in ends { actions.append(.gestureEnd(gesture)) }
        self.joins.gesturesEnded(ends.count, of: user, at: self.clock)
        self.relay.rooms.leave(slot, id, membership, in: room, into: &actions)
        actions.append(.dropPreviews([slot], room: room))
        return membership
    }

    // MARK: HTTP

    /// An app sent a request over HTTP.
    /// - Parameter seconds: the time since 1970, for new ids.
    /// - Returns: the number of the ``GatewayAction/http(request:status:json:)`` that answers it.
    package mutating func requestReceived(
        _ request: AppRequest, as identity: Identity, at now: Instant, seconds: Double,
        into actions: inout [GatewayAction]
    ) -> UInt64 {
        self.clock = now
        self.reader.seconds = Int64(seconds)
        return self.requests.received(
            request, as: identity, self.relay.rooms, &self.reader, &self.commits, &self.joins.answers, at: now,
            into: &actions)
    }

    /// The client of a read has the answer, or is gone.
    package mutating func answerRead(_ request: UInt64, at now: Instant, into actions: inout [GatewayAction]) {
        self.clock = now
        self.requests.answerRead(request, &self.joins.answers, at: now, into: &actions)
        self.admitAnswers(at: now, into: &actions)
    }

    // MARK: Answers

    /// The debtors whose answers were made since this was last called.
    package mutating func takeFreshDebtors() -> [AnswerBudget.Debtor] { self.joins.answers.takeFresh() }

    /// The kernel has taken answers.
    /// - Parameter bytes: what the debtor's connection still holds, ended or not; 0 when it is gone.
    package mutating func answersTaken(
        by debtor: AnswerBudget.Debtor, holding bytes: Int, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.joins.answers.settle(debtor, holding: bytes, at: now)
        self.admitAnswers(at: now, into: &actions)
    }

    /// Asks fan-outs for the waiting answers that fit by now, and closes connections that kept others waiting for too long.
    mutating func admitAnswers(at now: Instant, into actions: inout [GatewayAction]) {
        for question in self.joins.answers.admit(at: now) {
            switch question {
            case .join(let request):
                self.joins.admitted(request, &self.relay, at: now, into: &actions)
            case .read(let request): self.requests.admitted(request, into: &actions)
            }
        }
        for debtor in self.joins.answers.overdue(at: now) {
            actions.append(.shed(debtor, self.relay.connections.slot(of: debtor)))
        }
    }
}
