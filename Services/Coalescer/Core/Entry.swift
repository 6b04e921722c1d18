internal import Wire

/// What previews are collapsed by: an element in the hands of one connection. The room is a place in the coalescer's
/// table of rooms, so that a room's name is hashed once for each preview and stored once for all keys.
struct EntryKey: Hashable {
    var room: Int
    var element: Identifier
    var connection: UInt64
}

/// What is known of one key.
struct Entry {
    /// Whose it is.
    var key: EntryKey
    /// The session that the gesture numbers below belong to.
    var sid: Identifier = ""
    /// The newest gesture that a preview came from; 0: none.
    var newest: UInt64 = 0
    /// The newest gesture that a commit ended; 0: none.
    var closed: UInt64 = 0
    /// The preview that waits for its room's departure.
    var held: Preview?
    /// Since when something is held.
    var heldSince: UInt64 = 0
    /// True while the entry stands in its room's line.
    var isQueued = false
    /// The span of its room in which it moved last.
    var movedIn: UInt32 = 0
    /// How long after it the room usually hears of a mover again, ns; nil: unknown.
    private(set) var gap: UInt64?
    /// When a preview of the key was last sent, ms, as receivers have it who add up what they were told; nil: never.
    private var toldTime: UInt64?
    /// When the key was last heard of.
    var touchedAt: UInt64

    init(key: EntryKey, at now: UInt64) {
        self.key = key
        self.touchedAt = now
    }

    /// A connection may leave a room and come back with a new session, whose gestures are numbered from 1 again.
    mutating func follow(session sid: Identifier) {
        guard self.sid != sid else { return }
        self.sid = sid
        self.newest = 0
        self.closed = 0
    }

    /// The room heard of a mover so long after this one.
    mutating func followed(after gap: UInt64) {
        // One that came late or early does not turn a habit over.
        self.gap = self.gap.map { $0 - $0 / 4 + gap / 4 } ?? gap
    }

    /// A preview is sent at `now`, ns.
    /// - Returns: ms since the previous one, at least 1; 0 for the first. What rounding adds or takes away is made up for
    ///   by the next one, so that sums over several previews are true to a millisecond.
    mutating func sent(at now: UInt64) -> UInt32 {
        let time = now.saturatingAdd(500_000) / 1_000_000
        guard let told = self.toldTime else {
            self.toldTime = time
            return 0
        }
        let elapsed = UInt32(clamping: max(time.saturatingSubtract(told), 1))
        self.toldTime = told + UInt64(elapsed)
        return elapsed
    }

    /// A preview that was sent was not delivered: the one before it was the last.
    /// - Parameter sinceLast: what ``sent(at:)`` returned for it.
    mutating func returned(sinceLast: UInt32) {
        self.toldTime = sinceLast == 0 ? nil : self.toldTime?.saturatingSubtract(UInt64(sinceLast))
    }
}

/// What is known of one room.
struct PacedRoom {
    /// Its id.
    var id: Identifier
    /// Up to when its departures have used up its rate: each adds a tick.
    var paidUntil: UInt64 = 0
    /// When a preview of it last came or left; nil: never.
    var busyAt: UInt64?
    /// When it last departed; nil: never.
    var departedAt: UInt64?
    /// When it departs next; nil while nothing is held.
    var due: UInt64?
    /// The entry whose preview came last, and when; nil: none.
    var heardFrom: Int?
    var heardAt: UInt64?
    /// The entry that boarded last before the room departed; nil: never.
    var lastAboard: Int?
    /// Who moves something at present.
    var movers = Movers()
    /// The entries that wait, in the order in which they began to; some may have been cancelled since.
    var line: [Int] = []
    /// How many previews are held for it.
    var heldCount = 0
    /// Tells the departure that counts from those that are off. Goes on when the place is given to another room.
    var ticket: UInt64 = 0
    /// How many keys it has; the room is forgotten with the last.
    var entryCount = 0

    /// True when nothing came or left for a whole tick.
    func isQuiet(at now: UInt64, tick: UInt64) -> Bool {
        guard let busyAt = self.busyAt else { return true }
        return now >= busyAt.saturatingAdd(tick)
    }
}

/// How many keys of a room move at present: those that were heard of in this span of time or in the one before.
struct Movers {
    private var began: UInt64 = 0
    private var number: UInt32 = 0
    private var current = 0
    private var previous = 0

    /// So many move.
    var count: Int { max(self.current, self.previous) }

    /// A key moved.
    /// - Parameters:
    ///   - movedIn: the span in which the key moved last; it is told this one.
    ///   - span: the length of a span, ns.
    mutating func note(_ movedIn: inout UInt32, at now: UInt64, span: UInt64) {
        if self.number == 0 || now >= self.began.saturatingAdd(span) {
            let isNext = now < self.began.saturatingAdd(span).saturatingAdd(span)
            self.previous = isNext ? self.current : 0
            self.current = 0
            self.began = now
            self.number &+= 1
        }
        guard movedIn != self.number else { return }
        movedIn = self.number
        self.current += 1
    }
}

/// When a room departs at the latest.
struct Departure {
    /// Its place among the rooms.
    var room: Int
    /// The time, ns.
    var due: UInt64
    /// It counts while this is the room's ticket.
    var ticket: UInt64

    /// False when the room departed in the meantime or has nothing to depart with.
    func isCurrent(_ rooms: [PacedRoom]) -> Bool { rooms[self.room].ticket == self.ticket }
}

/// An entry's turn to be asked whether it is still needed.
struct Aging {
    /// Its place among the entries.
    var entry: Int
    /// Since when it stands in the line.
    var since: UInt64
}
