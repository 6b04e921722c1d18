import DequeModule
import Timing

/// When rooms depart: for each room at most one moment, and the earliest of all without a search.
///
/// A room whose moment moved forward stands in the queue twice; only the entry with its newest ticket counts. The first
/// entry of the queue always counts.
struct Departures {
    private struct Entry {
        let room: RoomIndex
        let due: Instant
        let ticket: UInt64
    }

    /// What stands for one room.
    private struct Slot {
        var due: Instant?
        /// Goes on when the slot is given to another room.
        var ticket: UInt64 = 0
    }

    private var queue: Deque<Entry> = []
    private var slots: [Slot] = []

    /// When the next room departs; nil when none does.
    var next: Instant? { self.queue.first?.due }

    /// When a room departs; nil when it does not.
    func due(of room: RoomIndex) -> Instant? {
        room < self.slots.count ? self.slots[room].due : nil
    }

    /// The room that departs next, if its moment has come. It stays until it is cancelled.
    func firstDue(at now: Instant) -> RoomIndex? {
        guard let first = self.queue.first, first.due <= now else { return nil }
        return first.room
    }

    /// The first rooms to depart.
    func first(_ count: Int) -> some Sequence<RoomIndex> {
        self.queue.prefix(count).lazy.filter { self.isCurrent($0) }.map(\.room)
    }

    /// Sets when a room departs; a moment later than the one that is set changes nothing.
    /// - Returns: the moment at which the room departs.
    mutating func set(_ room: RoomIndex, at due: Instant) -> Instant {
        while self.slots.count <= room { self.slots.append(Slot()) }
        if let earlier = self.slots[room].due, earlier <= due { return earlier }
        self.slots[room].due = due
        self.slots[room].ticket &+= 1
        self.queue.append(Entry(room: room, due: due, ticket: self.slots[room].ticket))
        // Nearly in order as they come: the ticks are equal, only the rounding and the credit differ.
        var index = self.queue.count - 1
        while index > 0, self.queue[index - 1].due > due {
            self.queue.swapAt(index - 1, index)
            index -= 1
        }
        self.dropOutdated()
        return due
    }

    /// The room departed or has nothing to depart with.
    mutating func cancel(_ room: RoomIndex) {
        guard room < self.slots.count else { return }
        self.slots[room].due = nil
        self.slots[room].ticket &+= 1
        self.dropOutdated()
    }

    private func isCurrent(_ entry: Entry) -> Bool { self.slots[entry.room].ticket == entry.ticket }

    private mutating func dropOutdated() {
        while let first = self.queue.first, !self.isCurrent(first) { self.queue.removeFirst() }
    }
}
