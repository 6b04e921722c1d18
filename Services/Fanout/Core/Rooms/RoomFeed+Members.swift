internal import Timing
internal import Wire

/// The gateways in a room, and the members that are connected to them.
extension RoomFeed {
    /// A gateway names its connections and its position in the stream, from where it begins to catch up.
    mutating func interestReceived(
        _ interest: RoomInterest, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        // Who is named before having joined here came from another fan-out.
        let isMoving = interest.occupants.contains { self.audience.user(of: $0.connection) == nil }
        if isMoving { self.unsettleMembers(at: now, with: &services) }
        let (joined, gone) = self.audience.interestReceived(interest, from: gateway)
        services.gateways.entered(self.name, by: gateway)
        self.endGestures(of: gone, at: now, into: &actions)
        for connection in gone {
            _ = self.audience.depart(connection, with: &services, into: &actions)
        }
        // Whoever does not know a member can show nothing of it. Gateways know whom their apps see already.
        for (member, connection) in joined {
            self.audience.announce(member, hasJoined: true, except: connection, namedBy: gateway, into: &actions)
        }
        for occupant in interest.occupants {
            self.audience.awarenessNamed(occupant, from: gateway, at: now, with: &services, into: &actions)
        }
    }

    /// Brings a gateway to the room's position, as far as that is possible now.
    /// - Parameter rows: what the log had, when it was read for this.
    /// - Returns: true when it has caught up.
    mutating func advanceCatchUp(
        of gateway: GatewayID, rows: [Update]?, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) -> Bool {
        let step = self.audience.advanceCatchUp(
            of: gateway, along: self.stream, in: services.history, rows: rows, limits: services.limits)
        switch step {
        case .waits: return false
        case .load:
            self.reload(isNewHistory: false, with: &services, into: &actions)
            return false
        case .readLog(let after):
            let tag = services.questions.ask(
                .roomLog(self.name, after: after, limit: services.limits.replay),
                for: .room(self.name, .catchUp(gateway)), into: &actions)
            self.audience.logAsked(tag, for: gateway)
            return false
        case .finish(let missed):
            for update in missed ?? [] { actions.append(.send(.update(update), to: gateway)) }
            if missed != nil { services.counters.replays += 1 }
            self.sendPosition(to: gateway, isReset: missed == nil, with: &services, into: &actions)
            return true
        }
    }

    // MARK: Comings

    /// Makes a connection a member, answers its join and announces it to the others.
    mutating func admit(
        _ pending: PendingJoin, with content: RoomContent, by issuer: SessionIssuer, at now: Instant,
        services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let join = pending.join
        let (joined, wasThere) = self.audience.enter(
            join.connection, at: pending.gateway, as: join.member, into: &actions)
        services.gateways.entered(self.name, by: pending.gateway)
        let session = pending.granted ?? issuer.newSession(for: join)
        if wasThere {
            // Joined again under another session, it leaves its gestures behind.
            self.endGestures(of: [join.connection], but: session.sid, at: now, into: &actions)
        }
        self.audience.grant(session, answering: join, at: now, into: &actions)
        let outcome = JoinReply.Joined(
            position: services.history.position(at: self.stream.seq), content: content,
            members: self.audience.occupancy.members, session: session.secret, sid: session.sid,
            sessionEpoch: session.sessionEpoch,
            number: session.number, rules: services.rulesText, awareness: self.audience.occupancy.awareness)
        actions.append(.send(.joinReply(join.reply(.success(outcome))), to: pending.gateway))
        if let joined, self.audience.occupancy.connectionCount > 1 {
            self.audience.announce(joined, hasJoined: true, except: join.connection, into: &actions)
        }
    }
}
