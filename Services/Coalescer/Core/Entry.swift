import Timing
import Wire

/// Where an entry stands in the coalescer's table.
typealias EntryIndex = Int

/// What previews are collapsed by: an element moved by one connection. The room is an index in the table of rooms, so
/// that a room's name is hashed once for each preview and stored once for all keys.
struct EntryKey: Hashable {
    var room: RoomIndex
    var element: Identifier
    var connection: UInt64
}

/// What is known of one key.
struct Entry {
    /// Whose it is.
    let key: EntryKey
    /// The session that the gesture numbers below belong to.
    private(set) var sid: Identifier = ""
    /// The newest gesture that a preview came from; 0: none.
    var newest: UInt64 = 0
    /// The newest gesture that a commit ended; 0: none.
    var closed: UInt64 = 0
    /// The preview that waits for its room's departure.
    var held: Preview?
    /// Since when something is held.
    var heldSince = Instant.start
    /// True while the entry stands among those that wait in its room.
    var isQueued = false
    /// The span of its room in which it moved last.
    var movedIn: UInt32 = 0
    /// How long after it the room usually hears of a mover again; nil: unknown.
    private(set) var gap: Nanoseconds?
    /// When a preview of the key was last sent, in ms, as a receiver has it that adds up what it received; nil: never.
    private var reportedTime: UInt64?
    /// When the key was last heard of.
    var touchedAt: Instant

    init(key: EntryKey, at now: Instant) {
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

    /// The room heard of the next mover `gap` after this one.
    mutating func followed(after gap: Nanoseconds) {
        // A single late or early one does not change what is usual.
        self.gap = self.gap.map { $0 - $0 / 4 + gap / 4 } ?? gap
    }

    /// A preview is sent.
    /// - Returns: ms since the previous one, at least 1; 0 for the first. The next one makes up for what rounding adds or
    ///   takes away, so that sums over several previews are true to a millisecond.
    mutating func sent(at now: Instant) -> UInt32 {
        let time = (now + .microseconds(500)).nanoseconds / 1_000_000
        guard let reported = self.reportedTime else {
            self.reportedTime = time
            return 0
        }
        let elapsed = UInt32(clamping: time > reported + 1 ? time - reported : 1)
        self.reportedTime = reported + UInt64(elapsed)
        return elapsed
    }

    /// A preview that was sent was not delivered: the one before it was the last.
    /// - Parameter sinceLast: what ``sent(at:)`` returned for it.
    mutating func returned(sinceLast: UInt32) {
        self.reportedTime = sinceLast == 0 ? nil : self.reportedTime.map { $0 - min($0, UInt64(sinceLast)) }
    }
}
