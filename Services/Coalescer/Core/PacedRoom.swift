import DequeModule
import Timing
import Wire

/// How long the previews of a room's publishers wait for each other, in order to leave together: the least time between two
/// flushes of a room, and the longest wait for another publisher. Zero: each preview leaves when it arrives.
struct GatheringWindow: Equatable {
    let length: Nanoseconds

    init(_ length: Nanoseconds) {
        self.length = length
    }

    /// Timed flushes happen at multiples of this, so that one wake-up serves many rooms.
    var cell: Nanoseconds { max(self.length / 4, Nanoseconds(1)) }
    /// Complete rooms with several publishers flush together, or at least this far apart. Shorter than the gateways' pause
    /// between two envelopes, so that nearly always a flush follows an envelope and needs no timer.
    var gathering: Nanoseconds { self.length / 8 }
}

/// The index of a room in the coalescer's table.
typealias RoomIndex = Int

/// The pacing state of one room.
struct PacedRoom {
    let id: Identifier
    /// The time up to which its flushes have used up its rate: each adds a window.
    private var paidUntil = Instant.start
    /// When a preview of it was last received or sent; nil: never.
    private var busyAt: Instant?
    /// When it last flushed; nil: never.
    private var departedAt: Instant?
    /// The entry whose preview arrived last, and when; nil: none.
    private var heard: (entry: EntryIndex, at: Instant)?
    /// The entry whose preview was the last one before the room flushed; nil: never.
    var lastFlushed: EntryIndex?
    /// The number of its publishers.
    var publishers = Publishers()
    /// The waiting entries, in the order in which they began to wait, as a link may take a part of them only: ahead of all
    /// those that it has returned. Some may have been cancelled since. Changed by the table only, which knows the entries.
    var waiting: Deque<EntryIndex> = []
    /// The number of its held previews.
    private(set) var heldCount = 0
    /// The number of those among them that are members of a group, apart from its last one.
    private var heldMembers = 0
    /// The number of publishers with a held preview; a group is one.
    var heldPublishers: Int { self.heldCount - self.heldMembers }
    /// The number of its keys; the room is evicted with the last one.
    var entryCount = 0

    init(id: Identifier) {
        self.id = id
    }

    /// True when nothing was received or sent for a whole window.
    func isQuiet(at now: Instant, window: GatheringWindow) -> Bool {
        guard let busyAt = self.busyAt else { return true }
        return now >= busyAt + window.length
    }

    /// The earliest time at which the room may flush: a window after its last flush at most, which may have cost a
    /// longer one.
    func mayFlush(_ window: GatheringWindow, credit: Nanoseconds) -> Instant {
        min(self.paidUntil - credit, self.departedAt.map { $0 + window.length } ?? .never)
    }

    /// Until when the room waits for publishers without a held preview, unless it flushes together with others: a window
    /// after it began to wait, or a little more than a window after its last flush.
    func patience(_ window: GatheringWindow, at now: Instant) -> Instant {
        let sinceLast = self.departedAt.map { $0 + window.length + window.cell } ?? .never
        let latest = min(now + window.length, max(sinceLast, now))
        return latest - Nanoseconds(latest.nanoseconds % window.cell.count)
    }

    mutating func previewCame(at now: Instant) { self.busyAt = now }

    /// The number of held previews changed, and of the members of groups among them.
    mutating func heldChanged(by count: Int, members: Int) {
        self.heldCount += count
        self.heldMembers += members
    }

    /// Records that a publisher sent.
    /// - Returns: the previous publisher, and how long after it this one sent.
    mutating func publisherHeard(_ entry: EntryIndex, at now: Instant) -> (previous: EntryIndex, gap: Nanoseconds)? {
        let last = self.heard
        self.heard = (entry, now)
        return last.flatMap { now >= $0.at ? ($0.entry, now.elapsed(since: $0.at)) : nil }
    }

    /// Records a flush, which costs one window of the rate; one that was early leaves the next one a window away.
    mutating func flushed(at now: Instant, window: GatheringWindow, credit: Nanoseconds) {
        self.busyAt = now
        self.departedAt = now
        self.paidUntil = min(max(self.paidUntil, now), now + credit) + window.length
    }
}

/// Counts a room's moving keys: those with traffic in the current span of time or in the previous one.
struct Publishers {
    private var began = Instant.start
    private var number: UInt32 = 0
    private var current = 0
    private var previous = 0

    /// The number of moving keys.
    var count: Int { max(self.current, self.previous) }

    /// Records that a key moved.
    /// - Parameters:
    ///   - movedIn: the span in which the key moved last; becomes the current one.
    ///   - span: the length of a span.
    mutating func keyMoved(_ movedIn: inout UInt32, at now: Instant, span: Nanoseconds) {
        if self.number == 0 || now >= self.began + span {
            let isNext = now < self.began + span + span
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
