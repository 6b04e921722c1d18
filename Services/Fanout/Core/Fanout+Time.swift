internal import Wire

/// The database's answers and the passing of time.
extension Fanout {
    /// The database answered a question, or could not.
    package mutating func databaseAnswered(
        _ tag: UInt64, _ reply: DatabaseReply, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard let purpose = self.requests.removeValue(forKey: tag) else { return }
        switch (purpose, reply) {
        case (.heads, _):
            self.isPolling = false
            if case .heads(let heads) = reply { self.headsAnswered(heads, at: now, into: &actions) }
        case (.load(let room), .room(let snapshot)):
            self.roomAnswered(room, tag: tag, snapshot, at: now, into: &actions)
        case (.load(let room), _):
            guard let place = self.places[room], self.rooms[place].loadTag == tag else { return }
            self.rooms[place].loadTag = nil
            self.retries.set(.load(room), at: now &+ self.limits.retryDelay)
            self.reviewIdle(place, at: now)
        case (.shardLog(let shard, let after), _):
            self.shards[shard].readTag = nil
            var rows: [Update]?
            if case .log(let updates) = reply { rows = updates }
            self.shardLogAnswered(shard, after: after, rows: rows, at: now, into: &actions)
        case (.replay(let join), _):
            var rows: [Update] = []
            if case .log(let updates) = reply { rows = updates }
            self.joins[join]?.replay = .answered(rows)
            guard let room = self.joins[join]?.join.room, let place = self.places[room] else { return }
            self.advanceJoin(join, in: place, at: now, into: &actions)
            self.reviewIdleIfLive(place, at: now)
        case (.catchUp(let room, let gateway), _):
            guard let place = self.places[room], self.rooms[place].catchUps[gateway]?.tag == tag else { return }
            var rows: [Update] = []
            if case .log(let updates) = reply { rows = updates }
            self.advanceCatchUp(of: gateway, in: place, rows: rows, at: now, into: &actions)
        case (.moveEpoch, _):
            var epoch: Identifier?
            if case .epoch(let name) = reply { epoch = name }
            self.epochMoved(epoch, into: &actions)
        case (.claim(let join), .claim(let outcome)):
            self.claimAnswered(join, outcome, at: now, into: &actions)
        case (.claim(let join), _):
            if self.joins[join] != nil { self.retries.set(.claim(join: join), at: now &+ self.limits.retryDelay) }
        }
    }

    /// When ``timePassed(at:into:)`` is due next.
    package var nextDeadline: UInt64? {
        // Asked in every turn: nothing here goes through all shards.
        var next = self.isPolling ? .max : self.pollAt ?? .max
        next = min(next, self.joinDeadlines.next ?? .max, self.readDeadlines.next ?? .max)
        next = min(next, self.followDeadlines.next ?? .max, self.idleDeadlines.next ?? .max)
        next = min(next, self.parkDeadlines.next ?? .max, self.retries.next ?? .max, self.readAt ?? .max)
        for gateway in self.gateways.values { next = min(next, gateway.graceAt ?? .max) }
        return next == .max ? nil : next
    }

    /// Does what is due.
    package mutating func timePassed(at now: UInt64, into actions: inout [FanoutAction]) {
        if let pollAt = self.pollAt, pollAt <= now, !self.isPolling {
            self.isPolling = true
            self.pollAt = now &+ self.limits.headInterval
            self.polledCursors = self.shards.map(\.cursor.at)
            _ = self.ask(.heads, for: .heads, into: &actions)
            self.moveEpoch(into: &actions)
            self.keepInBounds()
        }
        while let tag = self.joinDeadlines.popDue(at: now) { self.joinExpired(tag, at: now, into: &actions) }
        while let room = self.readDeadlines.popDue(at: now) { self.readsExpired(in: room, at: now, into: &actions) }
        while let room = self.followDeadlines.popDue(at: now) {
            if let place = self.places[room] { self.answerFollowers(in: place, at: now, into: &actions) }
        }
        while let room = self.parkDeadlines.popDue(at: now) { self.parkExpired(in: room, at: now) }
        while let room = self.idleDeadlines.popDue(at: now) { self.idleExpired(room, at: now) }
        while let retry = self.retries.popDue(at: now) { self.again(retry, into: &actions) }
        if let at = self.readAt, at <= now { self.readHoles(at: now, into: &actions) }
        for (gateway, state) in self.gateways {
            if let at = state.graceAt, at <= now { self.graceEnded(of: gateway, at: now, into: &actions) }
        }
        if self.sweepAt <= now { self.sweepFences(at: now) }
    }

    private mutating func readHoles(at now: UInt64, into actions: inout [FanoutAction]) {
        for shard in self.shards.indices {
            if let at = self.shards[shard].readAt, at <= now { self.readHole(in: shard, into: &actions) }
        }
        self.readAt = self.shards.lazy.compactMap(\.readAt).min()
    }

    private mutating func again(_ retry: Retry, into actions: inout [FanoutAction]) {
        switch retry {
        case .load(let room):
            if let place = self.places[room] { self.load(place, into: &actions) }
        case .claim(let join):
            self.claim(join, into: &actions)
        }
    }

    private mutating func idleExpired(_ room: Identifier, at now: UInt64) {
        guard let place = self.places[room], self.rooms[place].isIdle, let dropAt = self.rooms[place].dropAt,
            dropAt <= now
        else { return }
        self.drop(place)
    }

    /// Over the memory bound, rooms without members go first, then what only saves work.
    private mutating func keepInBounds() {
        guard self.bytes > self.limits.memory else { return }
        for place in self.places.values.sorted() where self.rooms[place].isIdle && self.rooms[place].isLive {
            self.drop(place)
            if self.bytes <= self.limits.memory { return }
        }
        for place in self.places.values.sorted() {
            self.rooms[place].ring.removeAll()
            self.rooms[place].elements.releaseSnapshot()
            self.account(place)
            if self.bytes <= self.limits.memory { return }
        }
    }

    private mutating func sweepFences(at now: UInt64) {
        self.sweepAt = now &+ self.limits.fenceAge / 4
        for place in self.places.values {
            self.rooms[place].elements.updateFences { slot in
                slot.fences.removeExpired(at: now, limits: self.limits)
            }
        }
    }
}
