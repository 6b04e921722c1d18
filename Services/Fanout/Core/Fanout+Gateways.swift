package import Wire

/// A gateway's comings and goings, and who is in its rooms.
extension Fanout {
    /// A gateway's link came up. Its rooms' streams begin with what it asks for.
    package mutating func gatewayUp(_ gateway: GatewayID, at now: UInt64) {
        self.gateways[gateway, default: Gateway()].isUp = true
        if self.gateways[gateway]?.graceAt != nil {
            self.gateways[gateway]?.graceAt = now &+ self.limits.gatewayGrace
        }
    }

    /// A gateway's link went down. Its streams stop; its people stay for a while, in case it comes back.
    package mutating func gatewayDown(_ gateway: GatewayID, at now: UInt64) {
        guard self.gateways[gateway]?.isUp == true else { return }
        self.gateways[gateway]?.isUp = false
        self.gateways[gateway]?.graceAt = now &+ self.limits.gatewayGrace
        for (tag, join) in self.joins where join.gateway == gateway {
            self.forgetJoin(tag, at: now)
        }
        for place in self.gateways[gateway]?.rooms ?? [] {
            self.rooms[place].occupancy.doubt(gateway)
            self.rooms[place].catchUps.removeValue(forKey: gateway)
        }
    }

    /// Records for a gateway were thrown away because it did not take them; now it takes them again. It is told where
    /// each of its rooms stands, so that it sees what it misses and asks for it with a `RoomInterest`.
    package mutating func gatewayResumed(_ gateway: GatewayID, into actions: inout [FanoutAction]) {
        for place in (self.gateways[gateway]?.rooms ?? []).sorted()
        where self.rooms[place].occupancy.isStreaming(gateway) {
            self.sendPosition(of: place, to: gateway, isReset: false, into: &actions)
        }
    }

    /// A connection leaves a room.
    package mutating func leaveReceived(
        _ leave: Leave, from gateway: GatewayID, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard let place = self.places[leave.room] else { return }
        var isJoining = false
        for tag in self.rooms[place].joins {
            guard let join = self.joins[tag], join.gateway == gateway, join.join.connection == leave.connection
            else { continue }
            self.joins[tag]?.leavesAfter = true
            isJoining = true
        }
        if !isJoining { self.depart(leave.connection, from: place, at: now, into: &actions) }
    }

    /// A gateway says which room it needs, who is there and how far it got.
    package mutating func interestReceived(
        _ interest: RoomInterest, from gateway: GatewayID, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard self.gateways[gateway]?.isUp == true else { return }
        if interest.occupants.isEmpty {
            guard let place = self.places[interest.room] else { return }
            self.rooms[place].catchUps.removeValue(forKey: gateway)
            let connections = self.rooms[place].occupancy.connections(of: gateway, onlyStale: false)
            for connection in connections {
                self.depart(connection, from: place, at: now, into: &actions)
            }
            // What still waits here is asked of another fan-out by now.
            for tag in self.rooms[place].joins where self.joins[tag]?.gateway == gateway {
                self.joins[tag]?.leavesAfter = true
            }
            self.advanceJoins(in: place, at: now, into: &actions)
            return
        }
        let wasThere = self.places[interest.room] != nil
        guard let place = self.open(interest.room, into: &actions) else {
            let position = RoomPosition(room: interest.room, position: interest.position, isReset: true)
            actions.append(.send(.roomPosition(position), to: gateway))
            self.counters.resets += 1
            return
        }
        if !wasThere { self.rooms[place].takenOverAt = now }
        self.rooms[place].dropAt = nil
        self.rooms[place].occupancy.stream(false, to: gateway)
        self.rooms[place].catchUps[gateway] = Room.CatchUp(position: interest.position)
        self.replaceOccupants(interest.occupants, of: gateway, in: place, at: now, into: &actions)
        self.advanceCatchUp(of: gateway, in: place, at: now, into: &actions)
    }

    private mutating func replaceOccupants(
        _ occupants: [RoomInterest.Occupant], of gateway: GatewayID, in place: Int, at now: UInt64,
        into actions: inout [FanoutAction]
    ) {
        let isSilent = self.rooms[place].isTakenOver(within: self.limits.gatewayGrace, at: now)
        var joined: [(Member, UInt64)] = []
        for occupant in occupants {
            let member = self.rooms[place].occupancy.enter(occupant.connection, at: gateway, as: occupant.member)
            if let member, !isSilent { joined.append((member, occupant.connection)) }
        }
        self.gateways[gateway]?.rooms.insert(place)
        let named = Set(occupants.map(\.connection))
        // A shard that moved away and came back: who left with it is here again.
        for tag in self.rooms[place].joins {
            guard let join = self.joins[tag], join.gateway == gateway, named.contains(join.join.connection)
            else { continue }
            self.joins[tag]?.leavesAfter = false
        }
        for connection in self.rooms[place].occupancy.connections(of: gateway, onlyStale: false)
        where !named.contains(connection) {
            self.vanish(connection, from: place, at: now, into: &actions)
        }
        for (member, connection) in joined {
            self.announce(member, hasJoined: true, except: connection, in: place, into: &actions)
        }
    }

    /// Brings a gateway to the room's position: with what it missed, or by telling it to start anew.
    mutating func advanceCatchUp(
        of gateway: GatewayID, in place: Int, rows: [Update]? = nil, at now: UInt64,
        into actions: inout [FanoutAction]
    ) {
        guard self.rooms[place].isLive, let catchUp = self.rooms[place].catchUps[gateway] else { return }
        if rows == nil, catchUp.tag != nil { return }
        let from = catchUp.position
        var missed: [Update]?
        if from.epoch == self.epoch {
            if from.seq > self.rooms[place].seq, !catchUp.wasReloaded {
                self.rooms[place].catchUps[gateway]?.wasReloaded = true
                self.reload(place, into: &actions)
                return
            }
            missed = self.rooms[place].missed(after: from.seq, rows: rows ?? [], limits: self.limits)
            if missed == nil, rows == nil, self.isReplayable(from.seq, in: place) {
                let name = self.rooms[place].name
                let tag = self.ask(
                    .roomLog(name, after: from.seq, limit: self.limits.replay), for: .catchUp(name, gateway),
                    into: &actions)
                self.rooms[place].catchUps[gateway]?.tag = tag
                return
            }
        }
        self.rooms[place].catchUps.removeValue(forKey: gateway)
        for update in missed ?? [] { actions.append(.send(.update(update), to: gateway)) }
        self.rooms[place].occupancy.stream(true, to: gateway)
        self.sendPosition(of: place, to: gateway, isReset: missed == nil, into: &actions)
        if missed != nil { self.counters.replays += 1 }
        self.advanceJoins(in: place, at: now, into: &actions)
    }

    /// True when the log may hold what was missed after `seq`.
    func isReplayable(_ seq: UInt64, in place: Int) -> Bool {
        seq <= self.rooms[place].seq && self.rooms[place].seq - seq <= UInt64(self.limits.replay)
    }

    /// Loads a room anew although it is live, even if an older load is under way.
    mutating func reload(_ place: Int, into actions: inout [FanoutAction]) {
        if let tag = self.rooms[place].loadTag {
            self.requests.removeValue(forKey: tag)
            self.rooms[place].loadTag = nil
        }
        self.load(place, into: &actions)
    }

    // MARK: People

    /// A connection goes.
    mutating func depart(
        _ connection: UInt64, from place: Int, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        let before = self.rooms[place].occupancy.gateways.map(\.id)
        // Joins of a gateway wait until it has caught up, which it now need not.
        var isFreed = false
        let left = self.rooms[place].occupancy.leave(connection)
        if let sid = self.rooms[place].sids.removeValue(forKey: connection),
            self.rooms[place].owners[sid]?.connection == connection
        {
            self.rooms[place].owners.removeValue(forKey: sid)
        }
        for gateway in before where !self.rooms[place].occupancy.includes(gateway) {
            self.gateways[gateway]?.rooms.remove(place)
            isFreed = self.rooms[place].catchUps.removeValue(forKey: gateway) != nil || isFreed
        }
        if let left { self.announce(left, hasJoined: false, except: 0, in: place, into: &actions) }
        if isFreed { self.advanceJoins(in: place, at: now, into: &actions) }
        self.reviewIdle(place, at: now)
    }

    /// A connection is gone without having said so: what others saw of its gestures ends.
    mutating func vanish(
        _ connection: UInt64, from place: Int, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        if let user = self.rooms[place].occupancy.user(of: connection) {
            let ended = self.rooms[place].endGestures(of: connection, user: user, at: now)
            for gesture in ended { self.tell(.gestureEnded(gesture), in: place, into: &actions) }
        }
        self.depart(connection, from: place, at: now, into: &actions)
    }

    /// The people of a gateway that did not come back in time leave.
    mutating func graceEnded(of gateway: GatewayID, at now: UInt64, into actions: inout [FanoutAction]) {
        self.gateways[gateway]?.graceAt = nil
        for place in (self.gateways[gateway]?.rooms ?? []).sorted() {
            for connection in self.rooms[place].occupancy.connections(of: gateway, onlyStale: true) {
                self.vanish(connection, from: place, at: now, into: &actions)
            }
        }
        if self.gateways[gateway]?.isUp == false { self.gateways.removeValue(forKey: gateway) }
    }

    mutating func announce(
        _ member: Member, hasJoined: Bool, except: UInt64, in place: Int, into actions: inout [FanoutAction]
    ) {
        let presence = Presence(
            room: self.rooms[place].name, hasJoined: hasJoined, member: member, except: except)
        self.tell(.presence(presence), in: place, into: &actions)
    }

    /// Sends what is outside of the numbered stream to all gateways of a room.
    func tell(_ record: GatewayRecord, in place: Int, into actions: inout [FanoutAction]) {
        let audience = self.rooms[place].audience
        if !audience.isEmpty { actions.append(.broadcast(record, to: audience, except: nil)) }
    }

    mutating func sendPosition(
        of place: Int, to gateway: GatewayID, isReset: Bool, into actions: inout [FanoutAction]
    ) {
        let position = RoomPosition(
            room: self.rooms[place].name, position: self.position(of: place), isReset: isReset)
        actions.append(.send(.roomPosition(position), to: gateway))
        if isReset { self.counters.resets += 1 }
    }
}
