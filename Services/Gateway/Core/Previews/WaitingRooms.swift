import HeapModule
package import Timing
package import Wire

/// Rooms whose previews and awareness wait at the gateway, for their room's interval or for their turn: the latest of each key,
/// so it is bounded by what moves, not by how often.
package struct WaitingRooms: Sendable {
    private struct Flush: Comparable {
        let due: Instant
        /// Those that are due at the same time go in the order in which they came.
        let ticket: UInt64
        let room: Identifier

        static func < (one: Self, other: Self) -> Bool { (one.due, one.ticket) < (other.due, other.ticket) }
    }

    private struct Waiting {
        var shown = HeldPreviews(previews: WaitingRooms.capacity, awareness: 65_536)
        var ticket: UInt64 = 0
    }

    private var rooms: [Identifier: Waiting] = [:]
    /// When rooms are due; one whose ticket is not the room's is stale.
    private var flushes = Heap<Flush>()
    private var lastTicket: UInt64 = 0
    /// Elements and connections of one room whose latest preview waits; previews of further ones are dropped.
    static let capacity = 4096

    /// Nothing waits.
    package init() {}

    /// True when nothing waits.
    package var isEmpty: Bool { self.rooms.isEmpty }
    /// How many rooms wait.
    package var count: Int { self.rooms.count }

    /// Adds previews and awareness of one room to those that wait there.
    /// - Parameter due: when they may leave unless the room waits already.
    package mutating func hold(_ shown: RoomShow, of room: Identifier, until due: Instant) {
        if self.rooms[room] == nil {
            self.rooms[room] = Waiting()
            self.move(room, to: due)
        }
        self.rooms[room]?.shown.add(shown)
    }

    /// True when a room's previews wait.
    package func contains(_ room: Identifier) -> Bool { self.rooms[room] != nil }

    /// Changes when a waiting room is due.
    package mutating func move(_ room: Identifier, to due: Instant) {
        guard self.rooms[room] != nil else { return }
        self.lastTicket += 1
        self.rooms[room]?.ticket = self.lastTicket
        self.flushes.insert(Flush(due: due, ticket: self.lastTicket, room: room))
    }

    /// When the next room is due; nil when none is.
    package mutating func nextDue() -> Instant? {
        while let first = self.flushes.min, self.rooms[first.room]?.ticket != first.ticket {
            self.flushes.removeMin()
        }
        return self.flushes.min?.due
    }

    /// The room that has been due longest, and since when; it waits until its previews are removed.
    package mutating func firstDue(at now: Instant) -> (room: Identifier, since: Instant)? {
        guard let due = self.nextDue(), due <= now, let first = self.flushes.min else { return nil }
        return (first.room, due)
    }

    /// Removes and returns what waits of a room.
    package mutating func remove(_ room: Identifier) -> RoomShow {
        guard !self.rooms.isEmpty, var waiting = self.rooms.removeValue(forKey: room) else { return RoomShow() }
        return waiting.shown.takeAll()
    }

    /// Drops the waiting previews of a room that must not be shown any more.
    package mutating func drop(_ ended: [EndedPreviews], in room: Identifier) {
        if !self.rooms.isEmpty { self.rooms[room]?.shown.remove(ended) }
    }
}
