package import Timing
package import Wire

/// The rooms in memory: by name, by shard, and the bytes that all of them occupy.
///
///     open ──► loading, live (see ``Room``) ──expendable──► closed: its slot is free for another room
package struct RoomTable: Sendable {
    /// A free slot is a room without name and members.
    private var rooms: [Room] = []
    private var slots: [Identifier: Int] = [:]
    private var freeSlots: [Int] = []
    private var slotsByShard = [Set<Int>](repeating: [], count: Shard.count)
    /// Roughly the bytes of all rooms.
    package private(set) var bytes = 0
    /// How many reads wait in all rooms.
    private(set) var readCount = 0
    private let limits: FanoutLimits
    private var nextSweep = Instant.start

    init(limits: FanoutLimits) { self.limits = limits }

    package var count: Int { self.slots.count }
    /// The number of slots, free ones included.
    var slotCount: Int { self.rooms.count }
    /// Every room's slot, in order.
    var allSlots: [Int] { self.slots.values.sorted() }

    /// How many connections are in a room, as far as is known here.
    package func connectionCount(in room: Identifier) -> Int {
        self.slot(of: room).map { self[$0].feed.audience.occupancy.connectionCount } ?? 0
    }

    /// What operators see of one room; nil when it is not in memory. A list is a ``RoomSurvey``.
    package func report(on room: Identifier, at now: Instant) -> RoomReport? {
        self.slot(of: room).flatMap { self[$0].report(at: now) }
    }

    func slot(of name: Identifier) -> Int? { self.slots[name] }
    func hasRooms(of shard: Int) -> Bool { !self.slotsByShard[shard].isEmpty }
    func slots(of shard: Int) -> [Int] { self.slotsByShard[shard].sorted() }

    /// The room in a slot. The totals follow whatever is done to it.
    subscript(slot: Int) -> Room {
        _read { yield self.rooms[slot] }
        _modify {
            let (bytes, reads) = (self.rooms[slot].bytes, self.rooms[slot].reads.count)
            defer {
                self.bytes += self.rooms[slot].bytes - bytes
                self.readCount += self.rooms[slot].reads.count - reads
            }
            yield &self.rooms[slot]
        }
    }

    /// Makes a room that is to be loaded. Returns its slot; nil when there are too many rooms or bytes.
    mutating func open(_ name: Identifier) -> Int? {
        guard self.count < self.limits.rooms, self.bytes < self.limits.memory else { return nil }
        let room = Room(name: name, limits: self.limits)
        let slot = self.freeSlots.popLast() ?? self.rooms.count
        if slot == self.rooms.count { self.rooms.append(Room(name: "", limits: self.limits)) }
        self[slot] = room
        self.slots[name] = slot
        self.slotsByShard[room.shard].insert(slot)
        return slot
    }

    /// The next sweep of fences is a quarter of their age away.
    mutating func startSweeps(at now: Instant) {
        self.nextSweep = now + self.limits.fenceAge / 4
    }

    /// Forgets gestures that ended long ago, when a sweep is due. No deadline: nothing waits for it.
    mutating func removeExpiredFences(at now: Instant) {
        guard self.nextSweep <= now else { return }
        self.startSweeps(at: now)
        for slot in self.allSlots {
            self[slot].feed.elements.removeExpiredFences(at: now, limits: self.limits)
        }
    }

    /// Closes a room that became expendable, and releases its shard with the shard's last room. To be called after
    /// every event that a room handled.
    mutating func closeIfExpendable(_ slot: Int, releasing shards: inout ShardStreams) {
        if self.rooms[slot].isExpendable { self.close(slot, releasing: &shards) }
    }

    /// Over the bound on bytes, idle rooms are closed first, then the caches of all are released.
    mutating func trim(releasing shards: inout ShardStreams) {
        guard self.bytes > self.limits.memory else { return }
        for slot in self.allSlots where self.rooms[slot].isIdle && self.rooms[slot].isLive {
            self.close(slot, releasing: &shards)
            if self.bytes <= self.limits.memory { return }
        }
        for slot in self.allSlots {
            self[slot].feed.releaseCaches()
            if self.bytes <= self.limits.memory { return }
        }
    }

    private mutating func close(_ slot: Int, releasing shards: inout ShardStreams) {
        let shard = self.rooms[slot].shard
        self.slots.removeValue(forKey: self.rooms[slot].name)
        self.slotsByShard[shard].remove(slot)
        self[slot] = Room(name: "", limits: self.limits)
        self.freeSlots.append(slot)
        if !self.hasRooms(of: shard) { shards.release(shard) }
    }
}

extension Room {
    /// What a list shows of the room; nil for one that is being loaded, or is none.
    func figures(at now: Instant) -> RoomFigures? {
        guard self.isLive else { return nil }
        let rates = self.feed.rates.perSecond(at: now)
        return RoomFigures(
            room: self.name, members: self.feed.audience.occupancy.userCount,
            connections: self.feed.audience.occupancy.connectionCount, seq: self.feed.stream.seq,
            elements: self.feed.elements.count, bytes: self.bytes,
            updatesPerSecond: rates.updates, previewsPerSecond: rates.previews)
    }

    fileprivate func report(at now: Instant) -> RoomReport? {
        guard let figures = self.figures(at: now) else { return nil }
        return RoomReport(
            figures: figures, people: self.feed.audience.occupancy.people(RoomReport.listedPeople),
            updates: self.feed.stream.latest(RoomReport.listedUpdates))
    }
}
