package import Timing

/// By what a list of rooms is sorted, the largest first.
package enum RoomOrder: String, CaseIterable, Sendable {
    /// Updates and previews of the last seconds.
    case activity
    case members
    case seq
    case bytes
}

/// A walk over the rooms in memory in search of the first ones in an order.
///
///     begun ──advance──► some rooms seen ──advance … ──► complete: ``rooms``
///
/// A fan-out may have 200,000 rooms: a walk takes a bounded number of them in each turn, and keeps no more than twice
/// the number that it lists. Rooms that are opened or closed meanwhile may be missing.
package struct RoomSurvey: Sendable {
    package static let listed = 100
    /// The most rooms of one step; some tenths of a millisecond.
    private static let step = 1000

    package let order: RoomOrder
    /// The first rooms in that order, once the walk is complete.
    package private(set) var rooms: [RoomFigures] = []
    /// There are more rooms than the list has.
    package private(set) var isTruncated = false
    private var nextSlot = 0

    package init(by order: RoomOrder) { self.order = order }

    /// Takes the next rooms.
    /// - Returns: true when the walk is complete.
    package mutating func advance(over fanout: borrowing Fanout, at now: Instant) -> Bool {
        let end = fanout.rooms.slotCount
        let stop = min(end, self.nextSlot + Self.step)
        while self.nextSlot < stop {
            if let figures = fanout.rooms[self.nextSlot].figures(at: now) { self.add(figures) }
            self.nextSlot += 1
        }
        guard stop == end else { return false }
        self.cut()
        return true
    }

    private mutating func add(_ room: RoomFigures) {
        // The list's last room after a cut; what comes behind it cannot come into the list.
        if self.isTruncated, self.order.places(self.rooms[Self.listed - 1], before: room) { return }
        self.rooms.append(room)
        if self.rooms.count >= 2 * Self.listed { self.cut() }
    }

    private mutating func cut() {
        self.rooms.sort { self.order.places($0, before: $1) }
        guard self.rooms.count > Self.listed else { return }
        self.rooms.removeLast(self.rooms.count - Self.listed)
        self.isTruncated = true
    }
}

extension RoomOrder {
    /// Rooms that are equal in the order follow by connections, then by name.
    package func places(_ room: RoomFigures, before other: RoomFigures) -> Bool {
        let (value, otherValue) = (self.value(of: room), self.value(of: other))
        if value != otherValue { return value > otherValue }
        if room.connections != other.connections { return room.connections > other.connections }
        return room.room < other.room
    }

    private func value(of room: RoomFigures) -> Double {
        switch self {
        case .activity: room.updatesPerSecond + room.previewsPerSecond
        case .members: Double(room.members)
        case .seq: Double(room.seq)
        case .bytes: Double(room.bytes)
        }
    }
}
