import Timing
import Wire

/// The key by which previews replace each other: an element moved by one connection.
struct EntryKey: Hashable {
    var room, element: Identifier
    var connection: UInt64

    init(_ room: Identifier, _ element: Identifier, _ connection: UInt64) {
        self.room = room
        self.element = element
        self.connection = connection
    }
}

/// The state of one key.
struct Entry {
    let key: EntryKey
    /// The session that the gesture numbers below belong to.
    private(set) var sid: Identifier = ""
    /// The newest gesture that a preview came from; 0: none.
    var newest: UInt64 = 0
    /// The preview that waits for the key's rate.
    private(set) var held: Preview?
    /// Since when a preview is held.
    private(set) var heldSince = Instant.start
    /// True while the entry is in the queue of those that wait. Changed by the coalescer only, which has the queue.
    var isQueued = false
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

    /// Holds a preview, in the place of the held one if there is one.
    /// - Returns: true when there was one.
    mutating func hold(_ preview: Preview, at now: Instant) -> Bool {
        guard var held = self.held.take() else {
            self.held = preview
            self.heldSince = now
            return false
        }
        held.replace(by: preview)
        self.held = held
        return true
    }

    /// Removes and returns the held preview.
    mutating func release() -> Preview? { self.held.take() }

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
