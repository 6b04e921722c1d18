import DequeModule
import Timing

/// The schedule of flushes: at most one time for each room, and the earliest of all without a search.
///
/// A room whose flush was moved forward has two entries in the queue; only the one with its newest ticket is valid.
/// The first entry of the queue is always valid.
struct FlushSchedule {
    private struct Entry {
        let room: RoomIndex
        let due: Instant
        let ticket: UInt64
    }

    /// The slot of one room.
    private struct Slot {
        var due: Instant?
        /// Keeps counting when the slot is reused for another room.
        var ticket: UInt64 = 0
    }

    private var queue: Deque<Entry> = []
    private var slots: [Slot] = []

    /// The time of the next flush; nil when there is none.
    var next: Instant? { self.queue.first?.due }

    /// The next room to flush, if it is due. It stays in the schedule until it is cancelled.
    func firstDue(at now: Instant) -> RoomIndex? {
        guard let first = self.queue.first, first.due <= now else { return nil }
        return first.room
    }

    /// The rooms that flush first.
    func first(_ count: Int) -> some Sequence<RoomIndex> {
        self.queue.prefix(count).lazy.filter { self.isCurrent($0) }.map(\.room)
    }

    /// Schedules a room's flush; a time later than the scheduled one has no effect.
    /// - Returns: the scheduled time.
    mutating func set(_ room: RoomIndex, at due: Instant) -> Instant {
        while self.slots.count <= room { self.slots.append(Slot()) }
        if let earlier = self.slots[room].due, earlier <= due { return earlier }
        self.slots[room].due = due
        self.slots[room].ticket &+= 1
        self.queue.append(Entry(room: room, due: due, ticket: self.slots[room].ticket))
        // Insertions are nearly sorted: the ticks are equal, only the rounding and the credit differ.
        var index = self.queue.count - 1
        while index > 0, self.queue[index - 1].due > due {
            self.queue.swapAt(index - 1, index)
            index -= 1
        }
        self.dropOutdated()
        return due
    }

    /// Removes a room that flushed or has no held previews.
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

/// When rooms of several publishers flush, so that many of them share one wake-up or follow one envelope.
struct SharedFlushes {
    /// The last flush of such a room; nil: none yet.
    private var last: Instant?

    /// The flush time of a room of several publishers whose rate allows it from `due` on. If `due` is ahead: the next
    /// multiple of the window's cell. Else `now`, unless other rooms flushed less than `window.gathering` ago, but not
    /// at this very moment: then the end of that pause.
    func next(from due: Instant, at now: Instant, _ window: GatheringWindow) -> Instant {
        if due > now {
            let cell = window.cell.count
            return due + Nanoseconds((cell - due.nanoseconds % cell) % cell)
        }
        guard let last = self.last, last != now else { return now }
        return max(now, last + window.gathering)
    }

    /// Such a room flushes.
    mutating func flushed(at now: Instant) { self.last = now }
}
