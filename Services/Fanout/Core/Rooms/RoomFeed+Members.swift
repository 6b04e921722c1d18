internal import Timing
internal import Wire

/// The gateways in a room, and the members that are connected to them.
extension RoomFeed {
    /// A gateway names its connections and its position in the stream, from where it begins to catch up.
    mutating func interestReceived(
        _ interest: RoomInterest, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        self.audience.occupancy.stream(false, to: gateway)
        self.audience.catchUps.begin(gateway, at: interest.position)
        // Members who were announced by the fan-out before are not announced again while everybody knows them.
        let isSilent =
            self.hasMovedHere(within: services.limits.gatewayGrace, at: now) && !self.hasAnsweredJoins
        var joined: [(Member, UInt64)] = []
        for occupant in interest.occupants {
            let member = self.audience.occupancy.enter(occupant.connection, at: gateway, as: occupant.member)
            if let member, !isSilent { joined.append((member, occupant.connection)) }
        }
        self.audience.occupancy.setViewports(interest.hasViewports, at: gateway)
        services.gateways.entered(self.name, by: gateway)
        let named = Set(interest.occupants.map(\.connection))
        for connection in self.audience.occupancy.connections(of: gateway, onlyStale: false)
        where !named.contains(connection) {
            self.endGestures(of: connection, at: now, into: &actions)
            _ = self.audience.depart(connection, with: &services, into: &actions)
        }
        // Whoever does not know a member can show nothing of it.
        for (member, connection) in joined {
            self.audience.announce(member, hasJoined: true, except: connection, into: &actions)
        }
        for occupant in interest.occupants {
            self.audience.attentionNamed(occupant, at: now, with: &services, into: &actions)
        }
    }

    /// Brings a gateway to the room's position, as far as that is possible now.
    /// - Parameter rows: what the log had, when it was read for this.
    /// - Returns: true when it has caught up.
    mutating func advanceCatchUp(
        of gateway: GatewayID, rows: [Update]?, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) -> Bool {
        let step = self.audience.catchUps.advance(
            gateway, along: self.stream, in: services.history, rows: rows, limits: services.limits)
        switch step {
        case .waits: return false
        case .load:
            self.reload(isNewHistory: false, with: &services, into: &actions)
            return false
        case .readLog(let after):
            let tag = services.questions.ask(
                .roomLog(self.name, after: after, limit: services.limits.replay),
                for: .room(self.name, .catchUp(gateway)), into: &actions)
            self.audience.catchUps.logAsked(tag, for: gateway)
            return false
        case .finish(let missed):
            for update in missed ?? [] { actions.append(.send(.update(update), to: gateway)) }
            if missed != nil { services.counters.replays += 1 }
            self.audience.occupancy.stream(true, to: gateway)
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
        self.hasAnsweredJoins = true
        let wasIn = self.audience.occupancy.includes(join.connection)
        let joined = self.audience.occupancy.enter(join.connection, at: pending.gateway, as: join.member)
        services.gateways.entered(self.name, by: pending.gateway)
        self.audience.occupancy.stream(true, to: pending.gateway)
        var (sid, secret, claim, number) = (Identifier(""), join.session, UInt32(1), UInt64(0))
        if case .claimed(let known, let newest, let highest) = pending.session {
            (sid, claim, number) = (known, newest, highest)
            if self.audience.owners.claimed(sid, claim, by: join.connection) {
                let news = SessionClaimed(room: self.name, sid: sid, claim: claim)
                self.audience.broadcast(.sessionClaimed(news), into: &actions)
            }
        } else {
            (sid, secret) = issuer.issue(join.room, join.member.user)
        }
        if wasIn {
            // Joined again under another session, it leaves its gestures behind.
            self.endGestures(of: join.connection, but: sid, at: now, into: &actions)
        }
        self.audience.sessionStarted(
            sid, of: join.connection, isResumed: number > 0 || claim > 1, at: now, into: &actions)
        let outcome = JoinReply.Joined(
            position: services.history.position(at: self.stream.seq), content: content,
            members: self.audience.occupancy.members, session: secret, sid: sid, claim: claim, number: number,
            rules: services.rulesText, attention: self.audience.occupancy.attention)
        actions.append(.send(.joinReply(join.reply(.success(outcome))), to: pending.gateway))
        if let joined, self.audience.occupancy.connectionCount > 1 {
            self.audience.announce(joined, hasJoined: true, except: join.connection, into: &actions)
        }
    }
}
