internal import Timing
internal import Wire

/// What comes from the database and the committers: snapshots and updates.
extension Room {
    /// Asks for the room's snapshot, unless that is under way or nothing may be asked yet.
    mutating func load(with services: inout RoomServices, into actions: inout [FanoutAction]) {
        guard services.history.isKnown, !self.stream.isLoading else { return }
        self.stream.loadAsked(
            services.questions.ask(.room(self.name), for: .room(self.name, .load), into: &actions))
    }

    /// Loads the room again, even if an older load is under way.
    mutating func reload(isNewHistory: Bool, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        if isNewHistory { self.stream.historyReplaced() }
        if let tag = self.stream.endLoad() { services.questions.withdraw(tag) }
        self.load(with: &services, into: &actions)
    }

    /// Closes a hole by a load: when the shard is past the missing update, it will not come any more.
    mutating func closeHole(isShardBehind: Bool, with services: inout RoomServices, into actions: inout [FanoutAction]) {
        if !isShardBehind, self.stream.hasHole { self.load(with: &services, into: &actions) }
    }

    /// An update of this room: applied and sent on when it is the next one, with what waited for it.
    mutating func updateReceived(
        _ update: Update, isShardBehind: Bool, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        switch self.stream.offer(update, limits: services.limits) {
        case .next:
            self.apply(update, at: now, with: &services, into: &actions)
            self.applyKept(at: now, with: &services, into: &actions)
            self.recount()
            self.answerFollowers(at: now, with: &services, into: &actions)
        case .duplicate:
            services.counters.duplicates += 1
        case .kept:
            self.closeHole(isShardBehind: isShardBehind, with: &services, into: &actions)
        case .overflow:
            if self.stream.isLive { self.load(with: &services, into: &actions) }
        }
    }

    /// The snapshot that the room waits for.
    mutating func snapshotReceived(
        _ snapshot: RoomSnapshot, isShardBehind: Bool, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        self.install(snapshot, at: now, with: &services, into: &actions)
        self.applyKept(at: now, with: &services, into: &actions)
        self.releaseParked(at: now, with: &services, into: &actions)
        if self.stream.needsLoad { self.load(with: &services, into: &actions) }
        self.closeHole(isShardBehind: isShardBehind, with: &services, into: &actions)
        self.recount()
        for gateway in self.catchUps.gateways {
            self.advanceCatchUp(of: gateway, at: now, with: &services, into: &actions)
        }
        self.advanceJoins(at: now, with: &services, into: &actions)
        self.answerReads(at: now, with: &services, into: &actions)
    }

    private mutating func install(
        _ snapshot: RoomSnapshot, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let before = services.history.position(at: self.stream.seq)
        let installation = self.stream.install(snapshotAt: snapshot.seq)
        if installation != .passed { self.elements.replace(with: snapshot, at: now, limits: services.limits) }
        switch installation {
        case .passed, .began: break
        case .jumped:
            for gateway in self.occupancy.streaming {
                self.occupancy.stream(false, to: gateway)
                self.catchUps.begin(gateway, at: before)
            }
        case .lost:
            for gateway in self.occupancy.streaming {
                self.sendPosition(to: gateway, isReset: true, with: &services, into: &actions)
            }
        }
    }

    private mutating func apply(
        _ update: Update, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        self.stream.advance(over: update, limits: services.limits)
        self.elements.apply(update, at: now, limits: services.limits)
        let streaming = self.occupancy.streaming
        if !streaming.isEmpty { actions.append(.broadcast(.update(update), to: streaming, except: nil)) }
        if !self.park.isEmpty { self.releaseParked(at: now, with: &services, into: &actions) }
    }

    private mutating func applyKept(
        at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        while let update = self.stream.dequeueNext() {
            self.apply(update, at: now, with: &services, into: &actions)
        }
    }
}
