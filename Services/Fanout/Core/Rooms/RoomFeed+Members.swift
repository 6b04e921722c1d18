internal import Timing
internal import Wire

/// The gateways in a room, and the members that are connected to them.
extension RoomFeed {
    /// A gateway names its connections and its position in the stream, from where it begins to catch up.
    mutating func interestReceived(
        _ interest: RoomInterest, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        self.occupancy.stream(false, to: gateway)
        self.catchUps.begin(gateway, at: interest.position)
        // Members who were announced by the fan-out before are not announced again.
        let isSilent = self.hasMovedHere(within: services.limits.gatewayGrace, at: now)
        var joined: [(Member, UInt64)] = []
        for occupant in interest.occupants {
            let member = self.occupancy.enter(occupant.connection, at: gateway, as: occupant.member)
            if let member, !isSilent { joined.append((member, occupant.connection)) }
        }
        self.occupancy.setViewports(interest.hasViewports, at: gateway)
        services.gateways.entered(self.name, by: gateway)
        let named = Set(interest.occupants.map(\.connection))
        for connection in self.occupancy.connections(of: gateway, onlyStale: false)
        where !named.contains(connection) {
            self.endGestures(of: connection, at: now, into: &actions)
            _ = self.depart(connection, with: &services, into: &actions)
        }
        for occupant in interest.occupants { self.attentionNamed(occupant, with: &services, into: &actions) }
        for (member, connection) in joined {
            self.announce(member, hasJoined: true, except: connection, into: &actions)
        }
    }

    /// Brings a gateway to the room's position, as far as that is possible now.
    /// - Parameter rows: what the log had, when it was read for this.
    /// - Returns: true when it has caught up.
    mutating func advanceCatchUp(
        of gateway: GatewayID, rows: [Update]?, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) -> Bool {
        let step = self.catchUps.advance(
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
            self.catchUps.logAsked(tag, for: gateway)
            return false
        case .finish(let missed):
            for update in missed ?? [] { actions.append(.send(.update(update), to: gateway)) }
            if missed != nil { services.counters.replays += 1 }
            self.occupancy.stream(true, to: gateway)
            self.sendPosition(to: gateway, isReset: missed == nil, with: &services, into: &actions)
            return true
        }
    }

    /// A gateway's link went down: its stream stops, its members stay in doubt.
    mutating func linkDown(to gateway: GatewayID) {
        self.occupancy.doubt(gateway)
        _ = self.catchUps.cancel(gateway)
    }

    // MARK: Comings

    /// Makes a connection a member, answers its join and announces it to the others.
    mutating func admit(
        _ pending: PendingJoin, with content: RoomContent, by issuer: SessionIssuer, at now: Instant,
        services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let join = pending.join
        let wasIn = self.occupancy.includes(join.connection)
        let joined = self.occupancy.enter(join.connection, at: pending.gateway, as: join.member)
        services.gateways.entered(self.name, by: pending.gateway)
        self.occupancy.stream(true, to: pending.gateway)
        var (sid, secret, claim, number) = (Identifier(""), join.session, UInt32(1), UInt64(0))
        if case .claimed(let known, let newest, let highest) = pending.session {
            (sid, claim, number) = (known, newest, highest)
            if self.owners.claimed(sid, claim, by: join.connection) {
                let news = SessionClaimed(room: self.name, sid: sid, claim: claim)
                self.broadcast(.sessionClaimed(news), into: &actions)
            }
        } else {
            (sid, secret) = issuer.issue(join.room, join.member.user)
        }
        if wasIn {
            // Joined again under another session, it leaves its gestures behind.
            self.endGestures(of: join.connection, but: sid, at: now, into: &actions)
        }
        self.sessionStarted(sid, of: join.connection, isResumed: number > 0 || claim > 1, into: &actions)
        let outcome = JoinReply.Joined(
            position: services.history.position(at: self.stream.seq), content: content,
            members: self.occupancy.members, session: secret, sid: sid, claim: claim, number: number,
            rules: services.rulesText, attention: self.occupancy.attention)
        actions.append(.send(.joinReply(join.reply(.success(outcome))), to: pending.gateway))
        if let joined, self.occupancy.connectionCount > 1 {
            self.announce(joined, hasJoined: true, except: join.connection, into: &actions)
        }
    }

    // MARK: Goings

    /// A connection leaves.
    /// - Parameter isSilent: its user is still in the room, elsewhere.
    /// - Returns: true when its gateway leaves with it and need not catch up any more.
    mutating func depart(
        _ connection: UInt64, isSilent: Bool = false, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) -> Bool {
        self.hideAttention(of: connection, into: &actions)
        let departure = self.occupancy.leave(connection)
        self.owners.remove(connection)
        var isFreed = false
        if let gateway = departure.gateway {
            services.gateways.left(self.name, by: gateway)
            isFreed = self.catchUps.cancel(gateway)
        }
        if let member = departure.member, !isSilent {
            self.announce(member, hasJoined: false, except: 0, into: &actions)
        }
        return isFreed
    }

    private func announce(_ member: Member, hasJoined: Bool, except: UInt64, into actions: inout [FanoutAction]) {
        let presence = Presence(room: self.name, hasJoined: hasJoined, member: member, except: except)
        self.broadcast(.presence(presence), into: &actions)
    }
}
