internal import Timing
internal import Wire

/// The gateways in a room, the streams that they get, and the members who come through them.
extension Room {
    /// A gateway says who is here and how far it has the stream.
    /// - Parameter isNew: the room was not in memory: another fan-out had it until now.
    mutating func interestReceived(
        _ interest: RoomInterest, from gateway: GatewayID, isNew: Bool, at now: Instant,
        with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        if isNew { self.takenOverAt = now }
        self.idleUntil = nil
        self.occupancy.stream(false, to: gateway)
        self.catchUps.begin(gateway, at: interest.position)
        self.replaceOccupants(interest.occupants, of: gateway, at: now, with: &services, into: &actions)
        self.advanceCatchUp(of: gateway, at: now, with: &services, into: &actions)
    }

    private mutating func replaceOccupants(
        _ occupants: [RoomInterest.Occupant], of gateway: GatewayID, at now: Instant,
        with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        // Members whom everybody knows from the fan-out before are not announced again.
        let isSilent = self.isTakenOver(within: services.limits.gatewayGrace, at: now)
        var joined: [(Member, UInt64)] = []
        for occupant in occupants {
            let member = self.occupancy.enter(occupant.connection, at: gateway, as: occupant.member)
            if let member, !isSilent { joined.append((member, occupant.connection)) }
        }
        let named = Set(occupants.map(\.connection))
        // A shard that moved away and came back: connections that left with it are here again.
        services.joins.setLeaving(false, of: self.joins, from: gateway, where: named.contains)
        for connection in self.occupancy.connections(of: gateway, onlyStale: false)
        where !named.contains(connection) {
            self.vanish(connection, at: now, with: &services, into: &actions)
        }
        for (member, connection) in joined {
            self.announce(member, hasJoined: true, except: connection, into: &actions)
        }
    }

    /// A gateway has nobody here any more.
    mutating func interestEnded(
        of gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        _ = self.catchUps.cancel(gateway)
        for connection in self.occupancy.connections(of: gateway, onlyStale: false) {
            self.depart(connection, at: now, with: &services, into: &actions)
        }
        // What still waits here is asked of another fan-out by now.
        services.joins.setLeaving(true, of: self.joins, from: gateway) { _ in true }
        self.advanceJoins(at: now, with: &services, into: &actions)
    }

    /// Brings a gateway to the room's position, as far as that is possible now.
    /// - Parameter rows: what the log had, when it was read for this.
    mutating func advanceCatchUp(
        of gateway: GatewayID, rows: [Update]? = nil, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let step = self.catchUps.advance(
            gateway, along: self.stream, in: services.history, rows: rows, limits: services.limits)
        switch step {
        case .waits: break
        case .load: self.reload(isNewHistory: false, with: &services, into: &actions)
        case .readLog(let after):
            let tag = services.questions.ask(
                .roomLog(self.name, after: after, limit: services.limits.replay),
                for: .room(self.name, .catchUp(gateway)), into: &actions)
            self.catchUps.logAsked(tag, for: gateway)
        case .finish(let missed):
            for update in missed ?? [] { actions.append(.send(.update(update), to: gateway)) }
            if missed != nil { services.counters.replays += 1 }
            self.occupancy.stream(true, to: gateway)
            self.sendPosition(to: gateway, isReset: missed == nil, with: &services, into: &actions)
            self.advanceJoins(at: now, with: &services, into: &actions)
        }
    }

    /// A gateway's link went down. Its stream stops, its members stay for a while, its joins are forgotten.
    mutating func linkDown(to gateway: GatewayID, at now: Instant, with services: inout RoomServices) {
        let forgotten = self.joins.filter { services.joins[$0]?.gateway == gateway }
        for tag in forgotten { self.remove(join: tag, with: &services) }
        if !forgotten.isEmpty { self.reviewIdle(at: now, with: &services) }
        self.occupancy.doubt(gateway)
        _ = self.catchUps.cancel(gateway)
    }

    // MARK: Members

    /// A connection leaves; one whose join still waits leaves after the answer.
    mutating func leaveReceived(
        _ leave: Leave, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let isJoining = services.joins.setLeaving(true, of: self.joins, from: gateway) { $0 == leave.connection }
        if !isJoining { self.depart(leave.connection, at: now, with: &services, into: &actions) }
    }

    /// The members that a gateway has not named again since its link went down leave.
    mutating func graceEnded(
        of gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        for connection in self.occupancy.connections(of: gateway, onlyStale: true) {
            self.vanish(connection, at: now, with: &services, into: &actions)
        }
    }

    mutating func depart(
        _ connection: UInt64, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let departure = self.occupancy.leave(connection)
        self.owners.remove(connection)
        // Joins through a gateway wait until it has caught up, which now it need not.
        let isFreed = departure.gateway.map { self.catchUps.cancel($0) } ?? false
        if let member = departure.member { self.announce(member, hasJoined: false, except: 0, into: &actions) }
        if isFreed { self.advanceJoins(at: now, with: &services, into: &actions) }
        self.reviewIdle(at: now, with: &services)
    }

    /// A connection is gone without having left: what others see of its gestures ends.
    private mutating func vanish(
        _ connection: UInt64, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        if let user = self.occupancy.user(of: connection) {
            self.endGestures(of: connection, user: user, at: now, into: &actions)
        }
        self.depart(connection, at: now, with: &services, into: &actions)
    }

    // MARK: Records

    func announce(_ member: Member, hasJoined: Bool, except: UInt64, into actions: inout [FanoutAction]) {
        let presence = Presence(room: self.name, hasJoined: hasJoined, member: member, except: except)
        self.broadcast(.presence(presence), into: &actions)
    }

    /// Sends what is outside of the numbered stream, also to the gateways that still catch up.
    func broadcast(_ record: GatewayRecord, into actions: inout [FanoutAction]) {
        var audience = self.occupancy.streaming
        if !self.catchUps.isEmpty {
            audience = self.occupancy.gateways.filter {
                self.occupancy.isStreaming($0) || self.catchUps.includes($0)
            }
        }
        if !audience.isEmpty { actions.append(.broadcast(record, to: audience, except: nil)) }
    }

    /// Tells a gateway where the stream stands.
    func sendPosition(
        to gateway: GatewayID, isReset: Bool, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let position = services.history.position(at: self.stream.seq)
        actions.append(
            .send(.roomPosition(RoomPosition(room: self.name, position: position, isReset: isReset)), to: gateway))
        if isReset { services.counters.resets += 1 }
    }
}
