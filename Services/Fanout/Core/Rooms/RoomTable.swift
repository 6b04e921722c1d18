internal import Wire

/// The rooms in memory: by name, by shard, and what all of them take.
///
///     open ──► loading, live (see ``Room``) ──expendable──► closed: its slot is free for another room
struct RoomTable: Sendable {
    /// A free slot is a room without name and members.
    private var rooms: [Room] = []
    private var slots: [Identifier: Int] = [:]
    private var freeSlots: [Int] = []
    private var slotsByShard = [Set<Int>](repeating: [], count: Shard.count)
    /// What all rooms take as they were last counted, bytes.
    private(set) var bytes = 0
    /// How many reads wait in all rooms.
    private(set) var readCount = 0

    /// How many rooms there are.
    var count: Int { self.slots.count }
    /// Every room's slot, in order.
    var allSlots: [Int] { self.slots.values.sorted() }

    func slot(of name: Identifier) -> Int? { self.slots[name] }
    func hasRooms(of shard: Int) -> Bool { !self.slotsByShard[shard].isEmpty }
    func slots(of shard: Int) -> [Int] { self.slotsByShard[shard].sorted() }

    /// The room in a slot. The totals follow whatever is done to it.
    subscript(slot: Int) -> Room {
        _read { yield self.rooms[slot] }
        _modify {
            let (bytes, reads) = (self.rooms[slot].countedBytes, self.rooms[slot].reads.count)
            defer {
                self.bytes += self.rooms[slot].countedBytes - bytes
                self.readCount += self.rooms[slot].reads.count - reads
            }
            yield &self.rooms[slot]
        }
    }

    /// Makes a room that is to be loaded; nil when there are too many, or they take too much.
    mutating func open(_ name: Identifier, limits: FanoutLimits) -> Int? {
        guard self.count < limits.rooms, self.bytes < limits.memory else { return nil }
        let room = Room(name: name, limits: limits)
        let slot = self.freeSlots.popLast() ?? self.rooms.count
        if slot == self.rooms.count { self.rooms.append(room) } else { self.rooms[slot] = room }
        self.slots[name] = slot
        self.slotsByShard[room.shard].insert(slot)
        return slot
    }

    /// Closes a room if nothing of it is worth its memory. Returns the shard that has no rooms any more.
    mutating func closeIfExpendable(_ slot: Int, limits: FanoutLimits) -> Int? {
        self.rooms[slot].isExpendable ? self.close(slot, limits: limits) : nil
    }

    /// Over the bound, rooms that nobody needs go first, then of all what only saves work. Returns the shards that
    /// have no rooms any more.
    mutating func trim(limits: FanoutLimits) -> [Int] {
        var emptied: [Int] = []
        guard self.bytes > limits.memory else { return emptied }
        for slot in self.allSlots where self.rooms[slot].isIdle && self.rooms[slot].isLive {
            if let shard = self.close(slot, limits: limits) { emptied.append(shard) }
            if self.bytes <= limits.memory { return emptied }
        }
        for slot in self.allSlots {
            self[slot].releaseCaches()
            if self.bytes <= limits.memory { break }
        }
        return emptied
    }

    private mutating func close(_ slot: Int, limits: FanoutLimits) -> Int? {
        let shard = self.rooms[slot].shard
        self.slots.removeValue(forKey: self.rooms[slot].name)
        self.slotsByShard[shard].remove(slot)
        self[slot] = Room(name: "", limits: limits)
        self.freeSlots.append(slot)
        return self.hasRooms(of: shard) ? nil : shard
    }
}
