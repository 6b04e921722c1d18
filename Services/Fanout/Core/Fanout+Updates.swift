package import Wire

/// The stream of committed changes.
extension Fanout {
    /// A committer published an update.
    package mutating func updateReceived(
        _ update: Update, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        let shard = Int(update.shard)
        guard self.shards.indices.contains(shard) else { return }
        self.counters.updates += 1
        guard !self.shards[shard].rooms.isEmpty else { return }
        let mark = ShardCursor.Mark(update)
        guard self.shards[shard].cursor.continues(with: mark) else {
            // From a former primary, or the first of another history: the next look at the heads tells which.
            self.counters.strays += 1
            return
        }
        let continues = self.shards[shard].cursor.saw(mark)
        self.offer(update, at: now, into: &actions)
        if !continues { return self.historyReplaced(in: shard, into: &actions) }
        self.watchHole(in: shard, at: now)
    }

    /// Gives an update to its room, if that is in memory.
    private mutating func offer(_ update: Update, at now: UInt64, into actions: inout [FanoutAction]) {
        guard let place = self.places[update.room] else { return }
        switch self.rooms[place].offer(update, limits: self.limits) {
        case .next:
            self.apply(update, to: place, at: now, into: &actions)
            self.drainKept(of: place, at: now, into: &actions)
            self.account(place)
            self.answerFollowers(in: place, at: now, into: &actions)
        case .duplicate:
            self.counters.duplicates += 1
        case .kept:
            self.closeHole(of: place, into: &actions)
        case .overflow:
            self.rooms[place].hasDropped = true
            if self.rooms[place].isLive { self.load(place, into: &actions) }
        }
    }

    /// Applies the next update and sends it on, and what waited for it.
    private mutating func apply(
        _ update: Update, to place: Int, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        self.rooms[place].apply(update, at: now, limits: self.limits)
        let streaming = self.rooms[place].occupancy.streaming
        if !streaming.isEmpty { actions.append(.broadcast(.update(update), to: streaming, except: nil)) }
        if !self.rooms[place].park.isEmpty {
            self.releaseParked(in: place, at: now, into: &actions)
        }
    }

    private mutating func drainKept(of place: Int, at now: UInt64, into actions: inout [FanoutAction]) {
        while let update = self.rooms[place].takeKept() {
            self.apply(update, to: place, at: now, into: &actions)
        }
    }

    /// A live room that waits for an update which its shard has already passed can only be loaded anew.
    private mutating func closeHole(of place: Int, into actions: inout [FanoutAction]) {
        guard self.rooms[place].isLive, !self.rooms[place].kept.isEmpty,
            !self.shards[self.rooms[place].shard].cursor.isBehind
        else { return }
        self.load(place, into: &actions)
    }

    /// Sets when the log is read, if the shard is behind.
    private mutating func watchHole(in shard: Int, at now: UInt64) {
        guard self.shards[shard].cursor.isBehind, self.shards[shard].readAt == nil,
            self.shards[shard].readTag == nil
        else { return }
        self.readLog(of: shard, at: now &+ self.limits.holePatience)
    }

    private mutating func readLog(of shard: Int, at time: UInt64) {
        self.shards[shard].readAt = time
        self.readAt = min(self.readAt ?? time, time)
    }

    /// The time for late updates is over: the log fills the hole.
    mutating func readHole(in shard: Int, into actions: inout [FanoutAction]) {
        self.shards[shard].readAt = nil
        guard let after = self.shards[shard].cursor.at, self.shards[shard].cursor.isBehind,
            self.shards[shard].readTag == nil
        else { return }
        self.counters.holes += 1
        if self.shards[shard].cursor.lag > self.limits.catchUp {
            self.rebase(shard, isNewHistory: false, into: &actions)
            return
        }
        let tag = self.ask(
            .shardLog(shard, after: after, limit: self.limits.logPage), for: .shardLog(shard, after: after),
            into: &actions)
        self.shards[shard].readTag = tag
    }

    /// The log's answer for a hole; nil when it could not be read.
    mutating func shardLogAnswered(
        _ shard: Int, after: UInt64, rows: [Update]?, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard self.shards[shard].cursor.at != nil else { return }
        guard let rows else {
            self.readLog(of: shard, at: now &+ self.limits.retryDelay)
            return
        }
        var last = after
        for row in rows {
            guard Int(row.shard) == shard, row.gseq == last &+ 1 else { break }
            last = row.gseq
            self.counters.updates += 1
            guard self.shards[shard].cursor.saw(ShardCursor.Mark(row)) else {
                return self.historyReplaced(in: shard, into: &actions)
            }
            self.offer(row, at: now, into: &actions)
        }
        if last == after, self.shards[shard].cursor.isBehind, self.shards[shard].cursor.at == after {
            // The rows are no longer in the log, or never were.
            self.rebase(shard, isNewHistory: false, into: &actions)
            return
        }
        for place in self.shards[shard].rooms.sorted() where !self.rooms[place].kept.isEmpty {
            self.closeHole(of: place, into: &actions)
        }
        if self.shards[shard].cursor.isBehind { self.readHole(in: shard, into: &actions) }
    }

    /// Nothing proves any more what the rooms of a shard missed: all are loaded anew, and the cursor starts again.
    mutating func rebase(_ shard: Int, isNewHistory: Bool, into actions: inout [FanoutAction]) {
        self.counters.rebases += 1
        self.shards[shard].cursor.forget()
        self.shards[shard].readAt = nil
        if let tag = self.shards[shard].readTag {
            self.requests.removeValue(forKey: tag)
            self.shards[shard].readTag = nil
        }
        for place in self.shards[shard].rooms.sorted() {
            if isNewHistory { self.rooms[place].isNewHistory = true }
            self.reload(place, into: &actions)
        }
    }

    /// The shards' heads, as the database has them.
    mutating func headsAnswered(_ heads: ShardHeads, at now: UInt64, into actions: inout [FanoutAction]) {
        guard heads.epoch == self.epoch else {
            self.historyIs(heads.epoch, into: &actions)
            return
        }
        for (shard, head) in heads.marks.prefix(Shard.count).enumerated() where !self.shards[shard].rooms.isEmpty {
            let before = shard < self.polledCursors.count ? self.polledCursors[shard] : nil
            guard head.gseq >= before ?? 0, self.shards[shard].cursor.headIs(head) else {
                self.historyReplaced(in: shard, into: &actions)
                continue
            }
            self.watchHole(in: shard, at: now)
        }
    }

    /// The database does not have what was sent on from this shard, though its history has the same name: members take
    /// the shard's rooms anew, and the history gets another name, so that nobody goes on from a place in the old one.
    private mutating func historyReplaced(in shard: Int, into actions: inout [FanoutAction]) {
        self.counters.replacements += 1
        self.isEpochStale = true
        self.moveEpoch(into: &actions)
        self.rebase(shard, isNewHistory: true, into: &actions)
    }

    /// Asks for another name of the history, until there is one.
    mutating func moveEpoch(into actions: inout [FanoutAction]) {
        guard self.isEpochStale, !self.isMovingEpoch, let epoch = self.epoch else { return }
        self.isMovingEpoch = true
        _ = self.ask(.moveEpoch(from: epoch), for: .moveEpoch, into: &actions)
    }

    /// The history's name after the question for another one; nil when the database did not answer.
    mutating func epochMoved(_ epoch: Identifier?, into actions: inout [FanoutAction]) {
        self.isMovingEpoch = false
        if let epoch { self.historyIs(epoch, into: &actions) }
    }

    /// The database has another history than the one that was followed.
    mutating func historyIs(_ epoch: Identifier, into actions: inout [FanoutAction]) {
        guard epoch != self.epoch else { return }
        self.epoch = epoch
        self.isEpochStale = false
        for shard in self.shards.indices where !self.shards[shard].rooms.isEmpty {
            self.rebase(shard, isNewHistory: true, into: &actions)
        }
    }

    /// A room's snapshot came.
    mutating func roomAnswered(
        _ name: Identifier, tag: UInt64, _ snapshot: RoomSnapshot, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        guard let place = self.places[name], self.rooms[place].loadTag == tag else { return }
        self.counters.loads += 1
        let shard = self.rooms[place].shard
        let births = self.rooms[place].birthsAtLoad
        let mark = ShardCursor.Mark(snapshot.gseq, chain: snapshot.chain)
        guard self.shards[shard].cursor.loaded(at: mark, births: births) else {
            self.rooms[place].loadTag = nil
            return self.historyReplaced(in: shard, into: &actions)
        }
        let before = self.position(of: place)
        let streaming = self.rooms[place].occupancy.streaming
        switch self.rooms[place].take(snapshot, at: now, limits: self.limits) {
        case .continued:
            break
        case .jumped:
            for gateway in streaming {
                self.rooms[place].occupancy.stream(false, to: gateway)
                self.rooms[place].catchUps[gateway] = Room.CatchUp(position: before)
            }
        case .lost:
            for gateway in streaming { self.sendPosition(of: place, to: gateway, isReset: true, into: &actions) }
        }
        self.drainKept(of: place, at: now, into: &actions)
        self.releaseParked(in: place, at: now, into: &actions)
        self.watchHole(in: shard, at: now)
        if self.rooms[place].hasDropped { self.load(place, into: &actions) }
        self.closeHole(of: place, into: &actions)
        self.account(place)
        for gateway in self.rooms[place].catchUps.keys.sorted(by: { $0.number < $1.number }) {
            self.advanceCatchUp(of: gateway, in: place, at: now, into: &actions)
        }
        self.advanceJoins(in: place, at: now, into: &actions)
        self.answerReads(in: place, at: now, into: &actions)
    }
}
