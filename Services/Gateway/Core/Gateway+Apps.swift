import DequeModule
import JSONBytes
package import Timing
import Wire

/// What apps do: they come, send events and go.
extension Gateway {
    /// An app connected and was accepted as `identity`. It joins the handshake's room immediately.
    /// - Returns: the slot that stands for it.
    package mutating func connected(
        identity: Identity, handshake: HandshakeFields, at now: Instant, into actions: inout [GatewayAction]
    ) -> Slot {
        self.clock = now
        let slot = self.connections.insert(identity, handshake, limits: self.limits, at: now)
        if let room = handshake.room {
            let request = JoinRequest(wantsPreviews: handshake.previews)
            self.start(request, of: room, slot: slot, ackID: nil, at: now, into: &actions)
        }
        return slot
    }

    /// An app disconnected. Its commits stay in custody until their results or deadlines.
    package mutating func disconnected(_ slot: Slot, at now: Instant, into actions: inout [GatewayAction]) {
        guard let connection = self.connections.remove(slot) else { return }
        self.joins.connectionClosed(connection.id)
        for (room, membership) in connection.memberships {
            for gesture in membership.openGestures(of: connection.identity.member.user, in: room) {
                let mayContinue = membership.isNumberedByApp(gesture.gesture)
                self.orphans.add(gesture, mayContinue: mayContinue, at: now)
            }
            self.end(membership, in: room, slot: slot, connection: connection.id, into: &actions)
        }
        for commit in connection.delayed { self.custody.unreserve(commit.edit.weight) }
    }

    /// An app's connection is about to be closed: no more commits are accepted from it.
    package mutating func startLeaving(_ slot: Slot) { self.connections[slot]?.startLeaving() }

    /// True while an app has commits here without a result.
    package func owesResults(to slot: Slot) -> Bool { self.connections[slot]?.owesResults ?? false }

    /// Warns apps whose tokens end soon and disconnects those whose tokens have ended. The shell calls it once in a
    /// while, in token mode only.
    /// - Parameter seconds: the time since 1970.
    package mutating func checkTokens(at seconds: Int64, into actions: inout [GatewayAction]) {
        self.connections.expireTokens(at: seconds, into: &actions)
    }

    // MARK: Events

    /// An app sent an event.
    /// - Parameters:
    ///   - json: its text, which may be anything.
    ///   - ackID: the acknowledgement that the app asks for.
    ///   - seconds: the time since 1970, for tokens.
    /// - Returns: false when the text was no event at all, which counts against the connection.
    @discardableResult
    package mutating func eventReceived(
        _ json: [UInt8], ackID: UInt64?, from slot: Slot, at now: Instant, seconds: Int64,
        into actions: inout [GatewayAction]
    ) -> Bool {
        guard self.connections.isTaken(slot) else { return true }
        self.clock = now
        self.tally.events += 1
        do throws(UnreadableEvent) {
            let event = try self.reader.event(json, ackID: ackID, from: slot, at: now)
            self.handle(event, seconds: seconds, into: &actions)
            return true
        } catch {
            let origin = EventOrigin(slot: slot, ackID: ackID, event: error.event)
            self.connections.refuse(error.refusal, origin, into: &actions)
            return error.isEvent
        }
    }

    private mutating func handle(_ event: IncomingEvent, seconds: Int64, into actions: inout [GatewayAction]) {
        do throws(Refusal) {
            if case .authRefresh = event.event { return try self.refreshToken(event, seconds: seconds, into: &actions) }
            let room = try event.room()
            if self.waitsForJoin(event, room: room, into: &actions) { return }
            switch event.event {
            case .roomJoin: try self.join(event, room: room, into: &actions)
            case .roomLeave: self.leave(event, room: room, into: &actions)
            case .transforming: try self.preview(event, room: room, into: &actions)
            case .edit(let kind): try self.commit(event, kind, room: room, into: &actions)
            case .authRefresh: break
            }
        } catch {
            self.refuse(error, event, into: &actions)
        }
    }

    private mutating func refuse(_ refusal: Refusal, _ event: IncomingEvent, into actions: inout [GatewayAction]) {
        var number = event.payload["n"]?.integer.flatMap { $0 > 0 ? UInt64($0) : nil }
        switch event.event {
        case .authRefresh:
            return self.connections.refuse(refusal, event.origin, into: &actions)
        case .transforming:
            guard event.ackID != nil || self.reports(refusal, event) else { return }
            number = nil
        default: break
        }
        self.connections.refuse(
            refusal, event.origin, room: event.payload["roomId"]?.string.map { Identifier($0) },
            element: event.payload["elementId"]?.string.map { Identifier($0) }, number: number, into: &actions)
    }

    /// A preview asks for no answer, and very many may be at fault: one a second is reported.
    private mutating func reports(_ refusal: Refusal, _ event: IncomingEvent) -> Bool {
        guard refusal.code == .invalid || refusal.code == .forbidden else { return false }
        return self.connections[event.slot]?.reports(refusal.code, at: event.now) ?? false
    }

    /// Keeps an event for a room whose first join is in flight, so that an app may go on without waiting for it.
    private mutating func waitsForJoin(
        _ event: IncomingEvent, room: Identifier, into actions: inout [GatewayAction]
    ) -> Bool {
        if case .roomJoin = event.event { return false }
        guard self.connections[event.slot]?.isJoining(room) == true else { return false }
        let waiting = Membership.WaitingEvent(ackID: event.ackID, json: event.json)
        if self.connections[event.slot]?.enqueue(waiting, for: room) == false, event.event.isCommit {
            let refusal = Refusal(.busy, "Too many events wait for the join of this room.", retryAfterMs: 100)
            self.connections.refuse(refusal, event.origin, room: room, into: &actions)
        }
        return true
    }

    /// `auth:refresh`: a new token for the same user.
    private mutating func refreshToken(
        _ event: IncomingEvent, seconds: Int64, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let user = self.connections[event.slot]?.identity.member.user
        let identity = try self.authenticator.refresh(event.payload["token"]?.string, of: user, seconds: seconds)
        for room in self.connections[event.slot]?.identityChanged(identity) ?? [] {
            self.leave(room, slot: event.slot, into: &actions)
        }
        guard let ackID = event.ackID else { return }
        let json = EventText.refreshed(expiresAt: identity.expiresAt)
        actions.append(.acknowledge(event.slot, id: ackID, json: json))
    }
}
