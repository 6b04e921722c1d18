package import Timing
package import Wire

/// What gateways send, and their links.
extension Fanout {
    /// A gateway's link came up. Its rooms' streams begin with what it asks for.
    package mutating func linkUp(to gateway: GatewayID, at now: Instant) {
        self.services.gateways.linkUp(to: gateway, graceEndsAt: now + self.limits.gatewayGrace)
    }

    /// A gateway's link went down. Its streams stop; its members stay for a while, in case it comes back.
    package mutating func linkDown(to gateway: GatewayID, at now: Instant) {
        guard self.services.gateways.linkDown(to: gateway, graceEndsAt: now + self.limits.gatewayGrace) else { return }
        for tag in self.services.joins.tags(from: gateway) {
            guard let slot = self.slot(ofJoin: tag) else { continue }
            self.handle(in: slot) { $0.forget(join: tag, at: now, with: &$1) }
        }
        for slot in self.slots(of: gateway) { self.rooms[slot].feed.audience.linkDown(to: gateway) }
    }

    /// The rooms in which a gateway has connections, in the order of their slots.
    private func slots(of gateway: GatewayID) -> [Int] {
        self.services.gateways.rooms(of: gateway).compactMap { self.rooms.slot(of: $0) }.sorted()
    }

    /// Records for a gateway were dropped because its link was full; now it accepts again. The gateway is sent where
    /// each of its rooms stands, so that it sees what it misses and asks for it with a `RoomInterest`.
    package mutating func linkDrained(to gateway: GatewayID, into actions: inout [FanoutAction]) {
        for slot in self.slots(of: gateway) where self.rooms[slot].feed.audience.occupancy.isStreaming(gateway) {
            self.rooms[slot].feed.sendPosition(to: gateway, isReset: false, with: &self.services, into: &actions)
        }
    }

    package mutating func joinReceived(
        _ join: Join, from gateway: GatewayID, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard self.services.gateways.isUp(gateway) else { return }
        guard self.waitingCount < self.limits.waiting, let slot = self.open(join.room, into: &actions) else {
            return self.services.refuse(join, from: gateway, with: .tooManyWait, into: &actions)
        }
        self.handle(in: slot) { $0.joinReceived(join, from: gateway, at: now, with: &$1, into: &actions) }
    }

    /// A gateway reads a room's state, without a join.
    package mutating func readReceived(
        _ read: RoomRead, from gateway: GatewayID, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard self.services.gateways.isUp(gateway) else { return }
        guard self.waitingCount < self.limits.waiting, let slot = self.open(read.room, into: &actions) else {
            return self.services.refuse(read, from: gateway, into: &actions)
        }
        self.handle(in: slot) { $0.readReceived(read, from: gateway, at: now, with: &$1, into: &actions) }
    }

    package mutating func leaveReceived(
        _ leave: Leave, from gateway: GatewayID, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard let slot = self.rooms.slot(of: leave.room) else { return }
        self.handle(in: slot) { $0.leaveReceived(leave, from: gateway, at: now, with: &$1, into: &actions) }
    }

    /// A gateway names a room that it needs, its connections there and its position in the stream.
    package mutating func interestReceived(
        _ interest: RoomInterest, from gateway: GatewayID, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard self.services.gateways.isUp(gateway) else { return }
        let known = self.rooms.slot(of: interest.room)
        if interest.occupants.isEmpty {
            guard let slot = known else { return }
            return self.handle(in: slot) { $0.interestEnded(of: gateway, at: now, with: &$1, into: &actions) }
        }
        guard let slot = self.open(interest.room, into: &actions) else {
            return self.services.refuse(interest, from: gateway, into: &actions)
        }
        self.handle(in: slot) { room, services in
            room.interestReceived(
                interest, from: gateway, isNew: known == nil, at: now, with: &services, into: &actions)
        }
    }

    /// A gateway needs the areas of a room's previews.
    package mutating func areaInterestReceived(_ interest: AreaInterest, from gateway: GatewayID) {
        guard let slot = self.rooms.slot(of: interest.room) else { return }
        self.rooms[slot].feed.audience.areasNeeded(at: gateway)
    }

    /// A connection shows its user by another name or colour.
    package mutating func memberRenamed(_ renamed: MemberRenamed, into actions: inout [FanoutAction]) {
        guard let slot = self.rooms.slot(of: renamed.room) else { return }
        self.rooms[slot].feed.audience.memberRenamed(renamed, into: &actions)
    }

    /// A connection shows something else of its person.
    package mutating func awarenessReceived(
        _ awareness: Awareness, at now: Instant, into actions: inout [FanoutAction]
    ) {
        self.services.counters.awareness += 1
        guard let slot = self.rooms.slot(of: awareness.room) else {
            self.services.counters.awarenessDropped += 1
            return
        }
        self.rooms[slot].feed.audience.awarenessReceived(awareness, at: now, with: &self.services, into: &actions)
    }

    /// A connection sends the others in its room a signal.
    package mutating func signalReceived(_ signal: RoomSignal, into actions: inout [FanoutAction]) {
        self.services.counters.signals += 1
        let isSent =
            self.rooms.slot(of: signal.room).map { self.rooms[$0].feed.audience.send(signal, into: &actions) } ?? false
        if !isSent { self.services.counters.signalsRefused += 1 }
    }

    /// A gateway asks for a page of a room's history.
    package mutating func historyReadReceived(
        _ read: HistoryRead, from gateway: GatewayID, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard self.services.gateways.isUp(gateway) else { return }
        self.historyReads.received(read, from: gateway, at: now, with: &self.services, into: &actions)
    }

    /// A gesture ended without a commit.
    package mutating func gestureEndReceived(
        _ gesture: GestureEnd, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard let slot = self.rooms.slot(of: gesture.room) else { return }
        self.rooms[slot].feed.gestureEndReceived(gesture, at: now, with: &self.services, into: &actions)
    }

    /// The members of a gateway that did not come back in time leave.
    mutating func graceEnded(of gateway: GatewayID, at now: Instant, into actions: inout [FanoutAction]) {
        for slot in self.slots(of: gateway) {
            self.handle(in: slot) { $0.graceEnded(of: gateway, at: now, with: &$1, into: &actions) }
        }
        self.services.gateways.forgetIfDown(gateway)
    }
}
