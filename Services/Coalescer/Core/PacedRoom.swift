import Timing
import Wire

/// Where a room stands in the coalescer's table.
typealias RoomIndex = Int

/// What is known of one room's pace.
struct PacedRoom {
    /// Its id.
    let id: Identifier
    /// Up to when its departures have used up its rate: each adds a tick.
    private var paidUntil = Instant.start
    /// When a preview of it last came or left; nil: never.
    private var busyAt: Instant?
    /// When it last departed; nil: never.
    private var departedAt: Instant?
    /// The entry whose preview came last, and when; nil: none.
    private var heard: (entry: EntryIndex, at: Instant)?
    /// The entry whose preview left last before the room departed; nil: never.
    var lastDeparted: EntryIndex?
    /// How many move something at present.
    var movers = Movers()
    /// The entries that wait, in the order in which they began to; some may have been cancelled since.
    var waiting: [EntryIndex] = []
    /// How many previews are held for it.
    var heldCount = 0
    /// How many keys it has; the room is forgotten with the last.
    var entryCount = 0

    init(id: Identifier) {
        self.id = id
    }

    /// True when nothing came or left for a whole tick.
    func isQuiet(at now: Instant, tick: Nanoseconds) -> Bool {
        guard let busyAt = self.busyAt else { return true }
        return now >= busyAt + tick
    }

    /// True when the room may depart without going beyond its rate.
    func hasCredit(_ credit: Nanoseconds, at now: Instant) -> Bool { self.paidUntil <= now + credit }

    /// The earliest moment at which the room may depart.
    func mayDepart(credit: Nanoseconds) -> Instant { self.paidUntil - credit }

    /// Until when the room waits for movers that have nothing held yet, unless it departs together with others: a tick
    /// after it began to wait, or a little more than a tick after its last departure.
    func patience(_ limits: CoalescerLimits, at now: Instant) -> Instant {
        let sinceLast = self.departedAt.map { $0 + limits.tick + limits.cell } ?? .never
        let latest = min(now + limits.tick, max(sinceLast, now))
        return latest - Nanoseconds(latest.nanoseconds % limits.cell.count)
    }

    /// A preview came.
    mutating func previewCame(at now: Instant) { self.busyAt = now }

    /// A mover was heard.
    /// - Returns: the mover heard before it, and how long the room waited for this one.
    mutating func moverHeard(_ entry: EntryIndex, at now: Instant) -> (previous: EntryIndex, gap: Nanoseconds)? {
        let last = self.heard
        self.heard = (entry, now)
        return last.flatMap { now >= $0.at ? ($0.entry, now.elapsed(since: $0.at)) : nil }
    }

    /// The room departed, and has paid for one tick more.
    mutating func departed(at now: Instant, tick: Nanoseconds) {
        self.busyAt = now
        self.departedAt = now
        self.paidUntil = max(self.paidUntil, now) + tick
    }
}
