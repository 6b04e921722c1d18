import Timing
import Wire

/// The index of an entry in the coalescer's table.
typealias EntryIndex = Int

/// The key by which previews replace each other: an element moved by one connection. The room is an index in the table of
/// rooms, so that a room's name is hashed once per preview and stored once for all keys.
struct EntryKey: Hashable {
    var room: RoomIndex
    var element: Identifier
    var connection: UInt64
}

/// The state of one key.
struct Entry {
    let key: EntryKey
    /// The session that the gesture numbers below belong to.
    private(set) var sid: Identifier = ""
    /// The newest gesture that a preview came from; 0: none.
    var newest: UInt64 = 0
    /// The preview that is held until its room's flush.
    private(set) var held: Preview?
    /// Since when a preview is held.
    private(set) var heldSince = Instant.start
    /// True while the entry is in its room's waiting list. Changed by the table only, which has the list.
    var isQueued = false
    /// The span of its room in which it last moved.
    var movedIn: UInt32 = 0
    /// The usual time until the room's next publisher sends after it; nil: unknown.
    private(set) var gap: Nanoseconds?
    /// When a preview of the key was last sent, in ms, as the sum of the times that receivers got; nil: never.
    private var reportedTime: UInt64?
    /// The time up to which what was sent has used up the key's rate: each preview adds a tick.
    private var paidUntil = Instant.start
    /// The time of the key's last traffic.
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
    }

    /// Holds a preview until its room's flush.
    mutating func hold(_ preview: Preview, at now: Instant) {
        self.held = preview
        self.heldSince = now
    }

    /// Removes and returns the held preview.
    mutating func release() -> Preview? { self.held.take() }

    /// A newer preview takes the place of the held one.
    /// - Returns: by how much the number of held members of groups changed.
    mutating func replace(by newer: Preview) -> Int {
        guard var latest = self.held.take() else { return 0 }
        let before = latest.group.memberCount
        latest.replace(by: newer)
        self.held = latest
        return latest.group.memberCount - before
    }

    /// The room's next publisher sent `gap` after this one.
    mutating func followed(after gap: Nanoseconds) {
        // A single late or early preview hardly changes the usual gap.
        self.gap = self.gap.map { $0 - $0 / 4 + gap / 4 } ?? gap
    }

    /// The earliest time at which a preview may be sent without exceeding the key's rate.
    func mayLeave(credit: Nanoseconds) -> Instant { self.paidUntil - credit }

    /// Records that a preview is sent, which costs one tick of the rate. One that leaves before it may costs no more than
    /// one that leaves as soon as it may: the next one waits a tick at most.
    /// - Returns: ms since the previous one, at least 1; 0 for the first. Rounding errors carry over to the next one,
    ///   so that sums over several previews are accurate to a millisecond.
    mutating func sent(at now: Instant, tick: Nanoseconds, credit: Nanoseconds) -> UInt32 {
        self.paidUntil = min(max(self.paidUntil, now), now + credit) + tick
        let time = (now + .microseconds(500)).nanoseconds / 1_000_000
        guard let reported = self.reportedTime else {
            self.reportedTime = time
            return 0
        }
        let elapsed = UInt32(clamping: time > reported + 1 ? time - reported : 1)
        self.reportedTime = reported + UInt64(elapsed)
        return elapsed
    }
}

extension GroupRole {
    /// 1 for a member whose group's last preview counts as the publisher.
    var memberCount: Int { self == .member ? 1 : 0 }
}
