import DequeModule
import Timing
import Wire

/// The known keys and rooms, their held previews and their expiry.
///
/// All entries are in one queue. An entry that reaches the front after `memory` without traffic in the meantime is
/// evicted, the others move to the end: an idle key is gone after one to two times `memory`, at a cost independent of
/// the number of keys. The same queue provides the victim when there are too many keys.
struct KeyTable {
    /// An entry's position in the eviction queue.
    private struct Aging {
        let entry: EntryIndex
        /// Since when it is in the queue.
        let since: Instant
    }

    private let limits: CoalescerLimits
    private var index: [EntryKey: EntryIndex] = [:]
    private var entries: [Entry] = []
    private var freeEntries: [EntryIndex] = []
    private var roomIndex: [Identifier: RoomIndex] = [:]
    private(set) var rooms: [PacedRoom] = []
    private var freeRooms: [RoomIndex] = []
    private var aging: Deque<Aging> = []
    /// The number of held previews.
    private(set) var heldCount = 0
    /// Keys evicted because there were too many.
    private(set) var evicted: UInt64 = 0

    /// How many entries are examined for one to evict: the first half of them for an idle one.
    private static let victimSearch = 16

    init(limits: CoalescerLimits) {
        self.limits = limits
    }

    /// The number of known keys.
    var entryCount: Int { self.index.count }
    /// The number of known rooms.
    var roomCount: Int { self.roomIndex.count }

    subscript(entry index: EntryIndex) -> Entry {
        _read { yield self.entries[index] }
        _modify { yield &self.entries[index] }
    }

    subscript(room index: RoomIndex) -> PacedRoom {
        _read { yield self.rooms[index] }
        _modify { yield &self.rooms[index] }
    }

    /// The entry of a key, created if needed. If there are too many keys, another one is evicted; nil when all examined
    /// ones have held previews.
    mutating func entry(room: Identifier, element: Identifier, connection: UInt64, at now: Instant) -> EntryIndex? {
        if let known = self.find(room: room, element: element, connection: connection) {
            self.entries[known].touchedAt = now
            return known
        }
        if self.index.count >= self.limits.maxEntries, !self.evictOne(at: now) { return nil }
        return self.add(EntryKey(room: self.room(room), element: element, connection: connection), at: now)
    }

    /// The entry of a key; nil when it is not known.
    func find(room: Identifier, element: Identifier, connection: UInt64) -> EntryIndex? {
        self.roomIndex[room].flatMap {
            self.index[EntryKey(room: $0, element: element, connection: connection)]
        }
    }

    /// A key moves: it counts as one of its room's publishers, and the previous publisher's gap is updated.
    mutating func moved(_ entry: EntryIndex, at now: Instant) {
        let room = self.entries[entry].key.room
        self.rooms[room].publishers.keyMoved(&self.entries[entry].movedIn, at: now, span: self.limits.publisherSpan)
        if let (previous, gap) = self.rooms[room].publisherHeard(entry, at: now) {
            self.entries[previous].followed(after: gap)
        }
    }

    /// Evicts keys and rooms without recent traffic. Cheap when there are none; call it in every turn.
    mutating func forgetSilent(at now: Instant) {
        while let first = self.aging.first, now >= first.since + self.limits.memory {
            self.aging.removeFirst()
            let entry = self.entries[first.entry]
            if now >= entry.touchedAt + self.limits.memory, !entry.isQueued {
                self.remove(first.entry)
            } else {
                self.aging.append(Aging(entry: first.entry, since: now))
            }
        }
    }

    /// Evicts one key without a held preview, preferably an idle one.
    /// - Returns: false when there was none among the first of the queue.
    private mutating func evictOne(at now: Instant) -> Bool {
        let count = min(Self.victimSearch, self.aging.count)
        for look in 0..<count {
            let first = self.aging.removeFirst()
            let entry = self.entries[first.entry]
            let isSilent = entry.touchedAt <= first.since
            if !entry.isQueued, isSilent || look >= count / 2 {
                self.evicted += 1
                self.remove(first.entry)
                return true
            }
            self.aging.append(Aging(entry: first.entry, since: now))
        }
        return false
    }

    private mutating func add(_ key: EntryKey, at now: Instant) -> EntryIndex {
        let added: EntryIndex
        if let free = self.freeEntries.popLast() {
            self.entries[free] = Entry(key: key, at: now)
            added = free
        } else {
            added = self.entries.count
            self.entries.append(Entry(key: key, at: now))
        }
        self.index[key] = added
        self.rooms[key.room].entryCount += 1
        self.aging.append(Aging(entry: added, since: now))
        return added
    }

    /// The index of a room, which is added if it is unknown.
    private mutating func room(_ id: Identifier) -> RoomIndex {
        if let known = self.roomIndex[id] { return known }
        let added: RoomIndex
        if let free = self.freeRooms.popLast() {
            self.rooms[free] = PacedRoom(id: id)
            added = free
        } else {
            added = self.rooms.count
            self.rooms.append(PacedRoom(id: id))
        }
        self.roomIndex[id] = added
        return added
    }

    /// Removes an entry that has left the queue, and its room with its last key.
    private mutating func remove(_ entry: EntryIndex) {
        let key = self.entries[entry].key
        self.index[key] = nil
        self.entries[entry] = Entry(key: EntryKey(room: 0, element: "", connection: 0), at: .start)
        self.freeEntries.append(entry)
        self.rooms[key.room].entryCount -= 1
        guard self.rooms[key.room].entryCount == 0 else { return }
        self.roomIndex[self.rooms[key.room].id] = nil
        self.rooms[key.room] = PacedRoom(id: "")
        self.freeRooms.append(key.room)
    }
}

// MARK: - Held previews

extension KeyTable {
    /// Holds a preview until its room's flush, in an entry that holds none.
    mutating func hold(_ preview: Preview, in entry: EntryIndex, at now: Instant) {
        let room = self.entries[entry].key.room
        self.entries[entry].hold(preview, at: now)
        self.heldCount += 1
        self.rooms[room].heldChanged(by: 1, members: preview.group.memberCount)
        guard !self.entries[entry].isQueued else { return }
        self.entries[entry].isQueued = true
        self.rooms[room].waiting.append(entry)
    }

    /// A newer preview takes the place of the held one.
    mutating func replace(_ entry: EntryIndex, by newer: Preview) {
        let members = self.entries[entry].replace(by: newer)
        if members != 0 { self.rooms[self.entries[entry].key.room].heldChanged(by: 0, members: members) }
    }

    /// Drops the held preview of an entry.
    /// - Returns: true when its room holds nothing any more.
    mutating func drop(_ entry: EntryIndex) -> Bool {
        let room = self.entries[entry].key.room
        guard self.release(entry, of: room) != nil, self.rooms[room].heldCount == 0 else { return false }
        for entry in self.rooms[room].waiting { self.entries[entry].isQueued = false }
        self.rooms[room].waiting.removeAll(keepingCapacity: true)
        return true
    }

    /// Removes the held previews of a room for its flush, in the order in which they began to wait. Those whose keys
    /// have used up their rate stay, unless rates do not matter.
    /// - Parameter send: gets each preview, which is stamped as sent, and how long it waited.
    /// - Returns: when the first of those that stay may leave, ``Instant/never`` without any.
    mutating func flush(
        _ room: RoomIndex, at now: Instant, regardlessOfRates: Bool, _ send: (Preview, Nanoseconds) -> Void
    ) -> Instant {
        var next = Instant.never
        // The list is moved out and back, so that it is not copied.
        var waiting = exchange(&self.rooms[room].waiting, with: [])
        var kept = 0
        for position in waiting.indices {
            let entry = waiting[position]
            let mayLeave = regardlessOfRates ? now : self.entries[entry].mayLeave(credit: self.limits.credit)
            if mayLeave > now, self.entries[entry].held != nil {
                next = min(next, mayLeave)
                waiting[kept] = entry
                kept += 1
                continue
            }
            self.entries[entry].isQueued = false
            guard let held = self.release(entry, of: room) else { continue }
            self.rooms[room].lastFlushed = entry
            send(self.stamp(held, of: entry, at: now), now.elapsed(since: self.entries[entry].heldSince))
        }
        waiting.removeLast(waiting.count - kept)
        self.rooms[room].waiting = waiting
        return next
    }

    /// Records that a preview is sent, and stamps it with the time since the previous one of its key.
    mutating func stamp(_ preview: Preview, of entry: EntryIndex, at now: Instant) -> Preview {
        var preview = preview
        preview.sinceLast = self.entries[entry].sent(at: now, tick: self.limits.tick, credit: self.limits.credit)
        return preview
    }

    private mutating func release(_ entry: EntryIndex, of room: RoomIndex) -> Preview? {
        guard let held = self.entries[entry].release() else { return nil }
        self.heldCount -= 1
        self.rooms[room].heldChanged(by: -1, members: -held.group.memberCount)
        return held
    }
}
