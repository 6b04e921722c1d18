import DequeModule
package import Timing
package import Wire

/// Collapses bursts of previews to at most one for each (room, element, connection) and tick, the latest, and drops those
/// of gestures that a commit ends.
///
///     previewReceived ──► room quiet, or nobody else moves; credit left ────► sent immediately
///                    ├──► otherwise ──► held ◄─┐
///                    │                   │ └───┴─ replaced by the next one
///                    │                   ├──► all publishers there, credit left ► the room's flush
///                    │                   ├──► a tick waited ───────────────────► the room's flush
///                    │                   ├──► shutdown, too many held ─────────► sent
///                    │                   └──► end of the gesture ──────────────► cancelled
///                    └──► older gesture ──► dropped
///
/// A key is sent at most once in a tick on average, with a credit of one tick: T ms contain at most T / tick + 2 previews
/// of a key, and an app that sends as fast as the tick, or a little unevenly, never waits. Only the bound on memory may
/// exceed that rate.
///
/// Previews of several publishers of one room may leave together, which saves work at every stage behind: each waits for
/// those of the others, but never longer than the *gathering window*, a tick at most. With a window of zero each preview
/// leaves when it arrives. A room flushes, that is, sends its held previews, at most once in a window on average, with a
/// credit of one window. After a window of quiet a preview waits only if another publisher followed this one soon last time.
/// A room flushes before the widest gap in its publishers' cycle, so that previews wait through the narrow gaps. Rooms do
/// not wait for each other, but rooms of several publishers flush when envelopes arrive, or at times that many rooms share.
package struct Coalescer {
    /// The outcome of a received preview.
    package enum PreviewOutcome: Equatable, Sendable {
        /// Appended to the output.
        case sent
        /// Held for the tick, perhaps in the place of another one.
        case held
        /// Its gesture is older than one that was seen.
        case stale
    }

    /// How many rooms are searched for the oldest held preview.
    private static let oldestSearch = 64

    private let limits: CoalescerLimits
    private var window: GatheringWindow
    private var tally = CoalescerCounters()
    private var keys: KeyTable
    private var flushes = FlushSchedule()
    private var sharedFlushes = SharedFlushes()

    /// A coalescer without keys, whose gathering window is a tick.
    package init(limits: CoalescerLimits = CoalescerLimits()) {
        self.limits = limits
        self.window = GatheringWindow(limits.tick)
        self.keys = KeyTable(limits: limits)
    }

    /// When ``timeReached(_:into:)`` must be called next; nil while nothing is held.
    package var nextDeadline: Instant? { self.flushes.next }

    package var counters: CoalescerCounters {
        var counters = self.tally
        counters.evicted += self.keys.evicted
        return counters
    }

    /// The number of held previews.
    package var heldCount: Int { self.keys.heldCount }
    /// The number of known keys.
    package var entryCount: Int { self.keys.entryCount }
    /// The number of known rooms.
    package var roomCount: Int { self.keys.roomCount }

    /// The least time between two flushes of a room, and the longest wait of a preview for other publishers.
    package var gatheringWindow: Nanoseconds { self.window.length }
    /// The longest that it may be: a tick.
    package var longestWindow: Nanoseconds { self.limits.tick }

    // MARK: Events

    /// A preview arrived from a gateway. Previews that leave now are appended to `output`.
    @discardableResult
    package mutating func previewReceived(
        _ preview: Preview, at now: Instant, into output: inout [Preview]
    ) -> PreviewOutcome {
        self.timeReached(now, into: &output)
        self.tally.received += 1
        let entry = self.entry(of: preview, at: now, into: &output)
        self.keys[entry: entry].follow(session: preview.sid)
        guard preview.gesture >= self.keys[entry: entry].newest else {
            self.tally.stale += 1
            return .stale
        }
        self.keys[entry: entry].newest = preview.gesture
        let room = self.keys[entry: entry].key.room
        if preview.group == .member {
            self.holdMember(preview, in: entry, at: now)
            return .held
        }
        self.keys.moved(entry, at: now)
        let isQuiet = self.keys[room: room].isQuiet(at: now, window: self.window) && !self.isSoonFollowed(entry)
        self.keys[room: room].previewCame(at: now)
        let waitsForNobody =
            self.keys[room: room].heldPublishers == 0 && (isQuiet || self.keys[room: room].publishers.count <= 1)
        if waitsForNobody, self.mayFlush(room, with: entry) <= now {
            self.tally.sentAtOnce += 1
            if self.keys[room: room].heldCount > 0 {
                // With the other members of its group.
                self.keep(preview, in: entry, at: now)
                self.flush(room, at: now, into: &output)
            } else {
                self.tally.flushed(after: .zero)
                output.append(self.keys.stamp(preview, of: entry, at: now))
                self.keys[room: room].flushed(at: now, window: self.window, credit: self.roomCredit)
            }
            return .sent
        }
        self.keep(preview, in: entry, at: now)
        guard self.schedule(room, with: entry, at: now) <= now else { return .held }
        self.tally.sentAtOnce += 1
        self.flush(room, at: now, into: &output)
        return .sent
    }

    /// A commit ends a gesture: what is held of it, or of an older one, is dropped. What comes behind the end, or has left
    /// before it, is dropped by the fan-out.
    package mutating func gestureEnded(_ end: GestureEnd) {
        let known = self.keys.find(room: end.room, element: end.element, connection: end.connection)
        guard let entry = known, let held = self.keys[entry: entry].held, end.endedPreviews.includes(held) else {
            return
        }
        if self.keys.drop(entry) { self.flushes.cancel(self.keys[entry: entry].key.room) }
        self.tally.cancelled += 1
    }

    /// Time has reached `now`: all rooms that are due flush.
    package mutating func timeReached(_ now: Instant, into output: inout [Preview]) {
        while let room = self.flushes.firstDue(at: now) { self.flush(room, at: now, into: &output) }
    }

    /// Sends all held previews immediately, regardless of the pace, before the daemon ends.
    package mutating func flush(at now: Instant, into output: inout [Preview]) {
        while let next = self.flushes.next, let room = self.flushes.firstDue(at: next) {
            self.flush(room, at: now, regardlessOfRates: true, into: &output)
        }
    }

    /// The load asks for another gathering window. What is scheduled already flushes as it would have.
    /// - Parameter window: how long previews of several publishers wait for each other; a tick at most.
    package mutating func gather(_ window: Nanoseconds) {
        self.window = GatheringWindow(min(window, self.longestWindow))
    }

    /// Evicts keys and rooms without recent traffic. Cheap when there are none; call it in every turn.
    package mutating func forgetSilent(at now: Instant) {
        self.keys.forgetSilent(at: now)
    }

    /// The age of the oldest held preview; zero when none is held.
    package func oldestHeldAge(at now: Instant) -> Nanoseconds {
        var oldest = Nanoseconds.zero
        // A room waits for a tick at most: up to a fraction of it, the oldest previews are in the rooms that flush
        // first.
        for room in self.flushes.first(Self.oldestSearch) {
            for entry in self.keys[room: room].waiting where self.keys[entry: entry].held != nil {
                oldest = max(oldest, now.elapsed(since: self.keys[entry: entry].heldSince))
            }
        }
        return oldest
    }
}

// MARK: - Holding and sending

extension Coalescer {
    /// The entry of a preview's key. If all candidates for eviction have held previews, those are sent early: a newest
    /// value is never lost.
    private mutating func entry(of preview: Preview, at now: Instant, into output: inout [Preview]) -> EntryIndex {
        while true {
            let known = self.keys.entry(
                room: preview.room, element: preview.element, connection: preview.connection, at: now)
            if let known { return known }
            self.tally.early += UInt64(self.heldCount)
            self.flush(at: now, into: &output)
        }
    }

    /// Holds a preview, in the place of the held one of its key if there is one.
    private mutating func keep(_ preview: Preview, in entry: EntryIndex, at now: Instant) {
        if self.keys[entry: entry].held == nil {
            self.keys.hold(preview, in: entry, at: now)
        } else {
            self.keys.replace(entry, by: preview)
            self.tally.replaced += 1
        }
    }

    /// Holds a preview of a group until the group's last one, which counts as the publisher, decides for all of them; a
    /// tick at most, since that one may be missing.
    private mutating func holdMember(_ preview: Preview, in entry: EntryIndex, at now: Instant) {
        let room = self.keys[entry: entry].key.room
        self.keep(preview, in: entry, at: now)
        let due = max(self.mayFlush(room, with: entry), now + self.limits.tick)
        _ = self.flushes.set(room, at: due)
    }
}

// MARK: - Flushes

extension Coalescer {
    /// As far ahead as a key may be, a room may be in its smaller measure.
    private var roomCredit: Nanoseconds { min(self.limits.credit, self.window.length) }

    /// The earliest time at which a room may flush, with a preview of a key if there is one, without exceeding a rate.
    private func mayFlush(_ room: RoomIndex, with entry: EntryIndex?) -> Instant {
        let room = self.keys[room: room].mayFlush(self.window, credit: self.roomCredit)
        guard let entry else { return room }
        return max(room, self.keys[entry: entry].mayLeave(credit: self.limits.credit))
    }

    /// Schedules a room's flush: as early as its rate allows when all its publishers have sent, else a window after it
    /// began to wait or a little more than a window after its last flush.
    /// - Parameter publisher: the entry whose preview arrived; nil when none did.
    /// - Returns: the time of the flush; it never moves later while the room waits.
    @discardableResult
    private mutating func schedule(
        _ room: RoomIndex, with publisher: EntryIndex? = nil, at now: Instant
    ) -> Instant {
        var due = max(self.mayFlush(room, with: publisher), now)
        if !self.isComplete(room, with: publisher) {
            due = max(due, self.patience(of: room, with: publisher, at: now))
        } else if self.keys[room: room].publishers.count > 1 {
            due = self.sharedFlushes.next(from: due, at: now, self.window)
        }
        return self.flushes.set(room, at: due)
    }

    /// True when every publisher of the room has a held preview, or when it is better to flush without the others: the
    /// next gap is wider than the one after which the room flushed last, so that the others wait less.
    private func isComplete(_ room: RoomIndex, with publisher: EntryIndex?) -> Bool {
        if self.keys[room: room].heldPublishers >= self.keys[room: room].publishers.count { return true }
        guard let publisher, let last = self.keys[room: room].lastFlushed, let gap = self.keys[entry: publisher].gap,
            let present = self.keys[entry: last].gap
        else { return false }
        return gap > present + self.window.cell / 2
    }

    /// Until when a room waits for publishers without a held preview.
    private func patience(of room: RoomIndex, with publisher: EntryIndex?, at now: Instant) -> Instant {
        if let publisher, self.isSoonFollowed(publisher) { return now + self.window.length }
        return self.keys[room: room].patience(self.window, at: now)
    }

    /// True when another publisher followed this one soon last time: waiting for it pays off.
    private func isSoonFollowed(_ entry: EntryIndex) -> Bool {
        guard let gap = self.keys[entry: entry].gap else { return false }
        return gap <= self.window.length
    }

    /// Sends the held previews of the room, in the order in which they began to wait; those whose keys have used up their
    /// rate stay, for a flush of their own.
    private mutating func flush(
        _ room: RoomIndex, at now: Instant, regardlessOfRates: Bool = false, into output: inout [Preview]
    ) {
        if self.keys[room: room].publishers.count > 1 { self.sharedFlushes.flushed(at: now) }
        let next = self.keys.flush(room, at: now, regardlessOfRates: regardlessOfRates) { preview, wait in
            self.tally.flushed(after: wait)
            output.append(preview)
        }
        self.keys[room: room].flushed(at: now, window: self.window, credit: self.roomCredit)
        self.flushes.cancel(room)
        if next != .never { _ = self.flushes.set(room, at: next) }
    }
}

/// A ``Coalescer``'s counters since its start; monotonic.
package struct CoalescerCounters: Equatable, Sendable {
    /// Previews received.
    package var received: UInt64 = 0
    /// Previews sent.
    package var sent: UInt64 = 0
    /// Sent previews that did not wait because their room was quiet.
    package var sentAtOnce: UInt64 = 0
    /// Held previews that a newer one of their key replaced.
    package var replaced: UInt64 = 0
    /// Held previews that the end of their gesture cancelled.
    package var cancelled: UInt64 = 0
    /// Previews that arrived too late: of a gesture older than one that was seen.
    package var stale: UInt64 = 0
    /// Held previews that were sent before their tick because too many were held.
    package var early: UInt64 = 0
    /// Keys that were evicted early because there were too many.
    package var evicted: UInt64 = 0
    /// How long previews waited until they left; no time for those that left immediately.
    package var waits = LatencyTally()

    /// All zero.
    package init() {}

    /// A preview leaves after a wait.
    mutating func flushed(after wait: Nanoseconds) {
        self.sent += 1
        self.waits.note(wait)
    }
}
