package import Timing
package import Wire

/// What comes from the committers and the database: updates, answers, and histories that were replaced.
extension Fanout {
    /// The database was reached: its history, and how sessions are signed. Nothing is asked of the database before.
    package mutating func databaseReached(
        epoch: Identifier, issuer: SessionIssuer, at now: Instant, into actions: inout [FanoutAction]
    ) {
        self.services.issuer = issuer
        if self.services.history.isKnown { return self.historyRead(epoch, into: &actions) }
        _ = self.services.history.follow(epoch)
        self.shards.startPolling(at: now)
        self.rooms.startSweeps(at: now)
        for slot in self.rooms.allSlots { self.rooms[slot].feed.load(with: &self.services, into: &actions) }
        for tag in self.services.joins.allTags {
            guard let slot = self.slot(ofJoin: tag) else { continue }
            self.rooms[slot].joins.identify(tag, at: now, with: &self.services, into: &actions)
        }
    }

    package mutating func updateReceived(_ update: Update, at now: Instant, into actions: inout [FanoutAction]) {
        let shard = Int(update.shard)
        guard shard < Shard.count else { return }
        self.services.counters.updates += 1
        guard self.rooms.hasRooms(of: shard) else { return }
        switch self.shards.updateReceived(update, at: now) {
        case .passed: self.services.counters.duplicates += 1
        case .stray: self.services.counters.strays += 1
        case .followed: self.follow(update, at: now, into: &actions)
        case .replaced:
            self.follow(update, at: now, into: &actions)
            self.historyReplaced(in: shard, into: &actions)
        }
    }

    /// Leads an update to its room, if that is in memory.
    private mutating func follow(_ update: Update, at now: Instant, into actions: inout [FanoutAction]) {
        guard let slot = self.rooms.slot(of: update.room) else { return }
        let isBehind = self.shards.isBehind(self.rooms[slot].shard)
        self.handle(in: slot) { $0.updateReceived(update, isShardBehind: isBehind, at: now, with: &$1, into: &actions) }
    }

    /// False when nobody waits for the answer to a question any more, such as the claim of a join that was refused
    /// meanwhile.
    package func isWanted(_ tag: UInt64) -> Bool { self.services.isWanted(tag) }

    /// The database answered a question, or could not.
    package mutating func databaseAnswered(
        _ reply: DatabaseReply, to tag: UInt64, at now: Instant, into actions: inout [FanoutAction]
    ) {
        switch self.services.questions.answered(tag) {
        case nil: break
        case .heads:
            self.shards.headsAnswered()
            if case .heads(let heads) = reply { self.headsReceived(heads, at: now, into: &actions) }
        case .epochMove:
            self.services.history.endMove()
            if case .epoch(let epoch) = reply { self.historyRead(epoch, into: &actions) }
        case .shardLog(let shard, let after):
            self.shards.logAnswered(of: shard)
            self.logAnswered(of: shard, after: after, rows: reply.rows, at: now, into: &actions)
        case .history: self.historyReads.answered(reply, at: now, with: &self.services, into: &actions)
        case .room(let room, let purpose):
            guard let slot = self.rooms.slot(of: room) else { return }
            if purpose == .load, case .room(let snapshot) = reply {
                self.snapshotReceived(snapshot, in: slot, tag: tag, at: now, into: &actions)
            } else {
                self.rooms[slot].databaseAnswered(
                    reply, to: purpose, tag: tag, at: now, with: &self.services, into: &actions)
            }
            self.rooms.closeIfExpendable(slot, releasing: &self.shards)
        }
    }

    private mutating func snapshotReceived(
        _ snapshot: RoomSnapshot, in slot: Int, tag: UInt64, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard self.rooms[slot].feed.stream.awaitsLoad(tag) else { return }
        self.services.counters.loads += 1
        let shard = self.rooms[slot].shard
        let mark = ShardCursor.Mark(snapshot.gseq, chain: snapshot.chain)
        let lastTag = self.services.questions.lastTag
        guard self.shards.snapshotReceived(mark, of: shard, tag: tag, lastTag: lastTag, at: now) else {
            self.rooms[slot].feed.stream.endLoad()
            return self.historyReplaced(in: shard, into: &actions)
        }
        self.rooms[slot].snapshotReceived(
            snapshot, isShardBehind: self.shards.isBehind(shard), at: now, with: &self.services, into: &actions)
    }

    // MARK: Gaps

    /// The time for late updates is over: the log fills the gap.
    mutating func readLog(of shard: Int, into actions: inout [FanoutAction]) {
        let read = self.shards.logRead(of: shard)
        if read != .needless { self.services.counters.gaps += 1 }
        switch read {
        case .needless: break
        case .tooFar: self.restart(shard, isNewHistory: false, into: &actions)
        case .after(let gseq):
            let tag = self.services.questions.ask(
                .shardLog(shard, after: gseq, limit: self.limits.logPage), for: .shardLog(shard, after: gseq),
                into: &actions)
            self.shards.logAsked(of: shard, tag: tag)
        }
    }

    /// The log's answer for a gap; nil when it could not be read.
    private mutating func logAnswered(
        of shard: Int, after: UInt64, rows: [Update]?, at now: Instant, into actions: inout [FanoutAction]
    ) {
        guard self.shards.isFollowed(shard) else { return }
        guard let rows else { return self.shards.logFailed(of: shard, at: now) }
        var last = after
        for row in rows {
            guard Int(row.shard) == shard, row.gseq == last &+ 1 else { break }
            last = row.gseq
            self.services.counters.updates += 1
            guard self.shards.rowReceived(row) else { return self.historyReplaced(in: shard, into: &actions) }
            self.follow(row, at: now, into: &actions)
        }
        if last == after, self.shards.isBehind(shard), self.shards.stands(shard, at: after) {
            // The rows are no longer in the log, or never were.
            return self.restart(shard, isNewHistory: false, into: &actions)
        }
        let isBehind = self.shards.isBehind(shard)
        for slot in self.rooms.slots(of: shard) {
            self.rooms[slot].feed.closeHole(isShardBehind: isBehind, with: &self.services, into: &actions)
        }
        if isBehind { self.readLog(of: shard, into: &actions) }
    }

    /// Nothing proves any more what the rooms of a shard missed: all are loaded again, and the cursor restarts.
    private mutating func restart(_ shard: Int, isNewHistory: Bool, into actions: inout [FanoutAction]) {
        self.services.counters.rebases += 1
        if let tag = self.shards.restart(shard) { self.services.questions.withdraw(tag) }
        for slot in self.rooms.slots(of: shard) {
            self.rooms[slot].feed.reload(isNewHistory: isNewHistory, with: &self.services, into: &actions)
        }
    }

    // MARK: Heads and histories

    /// What is due in every interval of the heads; the bound on memory too is kept then.
    mutating func poll(at now: Instant, into actions: inout [FanoutAction]) {
        self.shards.headsAsked(at: now)
        self.services.questions.ask(.heads, for: .heads, into: &actions)
        self.services.moveEpoch(into: &actions)
        self.rooms.trim(releasing: &self.shards)
    }

    private mutating func headsReceived(_ heads: ShardHeads, at now: Instant, into actions: inout [FanoutAction]) {
        if heads.epoch != self.services.history.epoch { return self.historyRead(heads.epoch, into: &actions) }
        for (shard, head) in heads.marks.prefix(Shard.count).enumerated() where self.rooms.hasRooms(of: shard) {
            if !self.shards.headReceived(head, of: shard, at: now) { self.historyReplaced(in: shard, into: &actions) }
        }
        self.shards.headsRead()
    }

    /// The database lacks what was sent on from this shard, though its epoch is the same: the shard's rooms are reset,
    /// and the epoch moves, so that no app resumes from a position in the old history.
    private mutating func historyReplaced(in shard: Int, into actions: inout [FanoutAction]) {
        self.services.counters.replacements += 1
        self.services.history.replaced()
        self.services.moveEpoch(into: &actions)
        self.restart(shard, isNewHistory: true, into: &actions)
    }

    /// The epoch that the database has. Another one than before is another history.
    private mutating func historyRead(_ epoch: Identifier, into actions: inout [FanoutAction]) {
        guard self.services.history.follow(epoch) else { return }
        for shard in 0..<Shard.count where self.rooms.hasRooms(of: shard) {
            self.restart(shard, isNewHistory: true, into: &actions)
        }
    }
}
