internal import DequeModule
internal import Wire

/// How keys and rooms come to be known, and when they are forgotten.
///
/// All entries stand in one line. Who comes to its front after `memory` without having been heard of in the meantime
/// is forgotten, the others go to the end again: so a silent key is gone after one to two times `memory`, at a cost
/// that does not grow with the number of keys. The same line gives the victim when there are too many keys.
extension Coalescer {
    /// How many entries are looked at for one to forget: half of them for one that was silent.
    private static var victimSearch: Int { 16 }

    /// Forgets keys and rooms that had no traffic for long. Cheap when there are none: to be called now and then,
    /// whenever the daemon is awake.
    package mutating func forget(at now: UInt64) {
        while let first = self.aging.first, now >= first.since, now - first.since >= self.limits.memory {
            self.aging.removeFirst()
            let entry = self.entries[first.entry]
            let isSilent = now >= entry.touchedAt && now - entry.touchedAt >= self.limits.memory
            if isSilent, !entry.isQueued {
                self.free(first.entry)
            } else {
                self.aging.append(Aging(entry: first.entry, since: now))
            }
        }
    }

    /// The entry of a preview's key. When there are too many keys, something else is forgotten for it; when all of
    /// those have something to send, it is sent before its time: nothing newest is ever lost.
    mutating func entry(of preview: Preview, at now: UInt64, into output: inout [Preview]) -> Int {
        if let at = self.entry(
            room: preview.room, element: preview.element, connection: preview.connection, at: now)
        {
            return at
        }
        self.counters.early += UInt64(self.heldCount)
        self.flush(at: now, into: &output)
        self.evictOne(at: now)
        return self.make(
            EntryKey(room: self.room(preview.room), element: preview.element, connection: preview.connection), at: now)
    }

    /// The entry of a key, made when there is none; nil when there is no space for it.
    mutating func entry(room: Identifier, element: Identifier, connection: UInt64, at now: UInt64) -> Int? {
        if let roomAt = self.roomIndex[room] {
            let key = EntryKey(room: roomAt, element: element, connection: connection)
            if let at = self.index[key] {
                self.entries[at].touchedAt = now
                return at
            }
        }
        if self.index.count >= self.limits.maxEntries, !self.evictOne(at: now) { return nil }
        return self.make(EntryKey(room: self.room(room), element: element, connection: connection), at: now)
    }

    private mutating func make(_ key: EntryKey, at now: UInt64) -> Int {
        let at: Int
        if let free = self.freeEntries.popLast() {
            self.entries[free] = Entry(key: key, at: now)
            at = free
        } else {
            at = self.entries.count
            self.entries.append(Entry(key: key, at: now))
        }
        self.index[key] = at
        self.rooms[key.room].entryCount += 1
        self.aging.append(Aging(entry: at, since: now))
        return at
    }

    /// The place of a room, made when there is none.
    private mutating func room(_ id: Identifier) -> Int {
        if let at = self.roomIndex[id] { return at }
        let at: Int
        if let free = self.freeRooms.popLast() {
            self.rooms[free] = PacedRoom(id: id, ticket: self.rooms[free].ticket)
            at = free
        } else {
            at = self.rooms.count
            self.rooms.append(PacedRoom(id: id))
        }
        self.roomIndex[id] = at
        return at
    }

    /// Forgets one key that has nothing to send, a silent one rather than a busy one.
    /// - Returns: False when none was found among the first of the line.
    @discardableResult
    private mutating func evictOne(at now: UInt64) -> Bool {
        let count = min(Self.victimSearch, self.aging.count)
        for look in 0..<count {
            let first = self.aging.removeFirst()
            let entry = self.entries[first.entry]
            let isSilent = entry.touchedAt <= first.since
            if !entry.isQueued, isSilent || look >= count / 2 {
                self.counters.evicted += 1
                self.free(first.entry)
                return true
            }
            self.aging.append(Aging(entry: first.entry, since: now))
        }
        return false
    }

    /// Forgets an entry that has left the line, and its room with its last key.
    private mutating func free(_ at: Int) {
        let key = self.entries[at].key
        self.index[key] = nil
        self.entries[at] = Entry(key: EntryKey(room: 0, element: "", connection: 0), at: 0)
        self.freeEntries.append(at)
        self.rooms[key.room].entryCount -= 1
        guard self.rooms[key.room].entryCount == 0 else { return }
        self.roomIndex[self.rooms[key.room].id] = nil
        self.rooms[key.room] = PacedRoom(id: "", ticket: self.rooms[key.room].ticket)
        self.freeRooms.append(key.room)
    }
}
