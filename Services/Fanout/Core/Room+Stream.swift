internal import Wire

extension Room {
    /// What became of an offered update.
    enum Offer: Equatable {
        /// It is the next one.
        case next
        /// It was there already.
        case duplicate
        /// It waits for those before it.
        case kept
        /// Too many wait; the room must be loaded anew.
        case overflow
    }

    /// Looks where an update belongs, and keeps it if its time has not come.
    mutating func offer(_ update: Update, limits: FanoutLimits) -> Offer {
        if self.isLive {
            if update.seq <= self.seq { return .duplicate }
            if update.seq == self.seq + 1 { return .next }
        }
        if self.kept[update.seq] != nil { return .duplicate }
        guard self.kept.count < limits.keptUpdates else { return .overflow }
        self.kept[update.seq] = update
        return .kept
    }

    /// The kept update that is now due.
    mutating func takeKept() -> Update? {
        guard !self.kept.isEmpty, self.isLive else { return nil }
        return self.kept.removeValue(forKey: self.seq + 1)
    }

    /// Applies the next update to the elements, the recent updates and the gestures.
    mutating func apply(_ update: Update, at now: UInt64, limits: FanoutLimits) {
        self.seq = update.seq
        for element in update.elements {
            if element.json.isEmpty {
                self.elements.remove(element.id)
                continue
            }
            self.elements.set(element.id, json: element.json, seq: update.seq)
            if element.gesture > 0, let place = self.elements.place(of: element.id) {
                _ = self.elements[place].fences.close(element.gesture, of: update.sid, at: now, limits: limits)
            }
        }
        self.ring.append(update, maxCount: limits.replay, maxBytes: limits.ringBytes)
    }

    /// What a snapshot did to a room's stream.
    enum Taking: Equatable {
        /// The stream goes on from where it was, or begins.
        case continued
        /// The room skipped updates that can only be in the log.
        case jumped
        /// The room is back in an older history, or in another.
        case lost
    }

    /// Takes a snapshot for what it is.
    mutating func take(_ snapshot: RoomSnapshot, at now: UInt64, limits: FanoutLimits) -> Taking {
        let wasLive = self.isLive
        let isLost = wasLive && (self.isNewHistory || snapshot.seq < self.seqAtLoad)
        self.loadTag = nil
        self.isLive = true
        self.isNewHistory = false
        if wasLive, !isLost, snapshot.seq <= self.seq { return .continued }
        if wasLive { self.ring.removeAll() }
        self.seq = snapshot.seq
        self.elements.replace(with: snapshot.elements)
        for closed in snapshot.closed {
            guard let place = self.elements.place(of: closed.element) else { continue }
            _ = self.elements[place].fences.close(closed.gesture, of: closed.sid, at: now, limits: limits)
        }
        if isLost {
            self.kept.removeAll()
            return .lost
        }
        for seq in self.kept.keys where seq <= snapshot.seq { self.kept.removeValue(forKey: seq) }
        return wasLive ? .jumped : .continued
    }

    /// The updates after `seq` up to now, from recent ones alone or with rows of the log before them; nil when they
    /// are not complete or too many.
    func missed(after seq: UInt64, rows: [Update] = [], limits: FanoutLimits) -> [Update]? {
        guard seq <= self.seq, self.seq - seq <= UInt64(limits.replay) else { return nil }
        if seq == self.seq { return [] }
        var updates: [Update] = []
        var next = seq + 1
        if !self.ring.covers(from: next) {
            for row in rows where row.seq >= next && row.seq <= self.seq {
                guard row.seq == next else { return nil }
                updates.append(row)
                next += 1
            }
        }
        if next <= self.seq {
            guard self.ring.covers(from: next) else { return nil }
            updates += self.ring.suffix(from: next)
        }
        return updates.reduce(0) { $0 + $1.footprint } <= limits.replyBytes ? updates : nil
    }
}
