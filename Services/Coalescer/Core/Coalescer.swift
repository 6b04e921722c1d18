package import Timing
package import Wire

/// Collapses bursts of previews: at most one for each (room, element, connection) and tick, the latest value of each
/// field in it, and none of a gesture once its commit was seen.
///
///     previewReceived ──► room quiet, or nobody else moves; credit left ────► sent immediately
///                    ├──► otherwise ──► held ◄── folded: same gesture ──┐
///                    │                   │  ▲    replaced: newer ───────┤
///                    │                   │  └───────────────────────────┘
///                    │                   ├──► all movers there, credit left ► the room's departure
///                    │                   ├──► a tick waited ───────────────► the room's departure
///                    │                   ├──► flush, too many held ────────► sent
///                    │                   └──► commit of the gesture ───────► cancelled
///                    └──► older gesture, or closed by its commit ──────────► dropped
///
/// A room departs with everything that it holds, at most once in a tick on average, with a credit of one tick: an app
/// that sends as fast as the tick, or a little unevenly, waits for nothing, and a window of T ms sees at most
/// T / tick + 2 departures, and so at most as many previews of a key. Only the bound on memory may break that rate.
/// Movers of one room travel together: a preview waits for those of the others, but never longer than a tick. After a
/// tick of quiet it waits only for a mover that came soon after this one before. A room departs before the widest
/// gap in its movers' round: what is held waits for the narrow ones. Rooms do not wait for each other, but those of
/// several movers depart when envelopes come, or at moments that many share.
package struct Coalescer {
    /// What became of a preview.
    package enum PreviewOutcome: Equatable, Sendable {
        /// It is in the output.
        case sent
        /// It waits for the tick: alone, merged with what waited already, or in its stead.
        case held
        /// Its gesture is over, or older than one that was seen.
        case stale
    }

    /// What a commit, which itself always passes, did here.
    package enum CommitOutcome: Equatable, Sendable {
        /// No preview of its gestures was held.
        case nothingHeld
        /// A held preview of its gestures, or of an older one, is gone.
        case cancelled
    }

    /// Rooms that are looked at for the oldest held preview.
    private static let oldestSearch = 64

    private let limits: CoalescerLimits
    private var tally = CoalescerCounters()
    /// How many previews are held.
    package private(set) var heldCount = 0
    private var keys: KeyTable
    private var departures = Departures()
    /// When a room of several movers departed last.
    private var gatheredAt: Instant?

    /// A coalescer that knows nothing yet.
    package init(limits: CoalescerLimits = CoalescerLimits()) {
        self.limits = limits
        self.keys = KeyTable(limits: limits)
    }

    /// When ``timeReached(_:into:)`` must be called next; nil while nothing is held.
    package var nextDeadline: Instant? { self.departures.next }

    /// What it has done.
    package var counters: CoalescerCounters {
        var counters = self.tally
        counters.evicted += self.keys.evicted
        return counters
    }

    /// How many keys are known.
    package var entryCount: Int { self.keys.entryCount }
    /// How many rooms are known.
    package var roomCount: Int { self.keys.roomCount }

    // MARK: Events

    /// A preview came from a gateway. What leaves now is appended to `output`.
    @discardableResult
    package mutating func previewReceived(
        _ preview: Preview, at now: Instant, into output: inout [Preview]
    ) -> PreviewOutcome {
        self.timeReached(now, into: &output)
        self.tally.received += 1
        let entry = self.entry(of: preview, at: now, into: &output)
        self.keys[entry: entry].follow(session: preview.sid)
        guard preview.gesture > self.keys[entry: entry].closed, preview.gesture >= self.keys[entry: entry].newest else {
            self.tally.stale += 1
            return .stale
        }
        self.keys[entry: entry].newest = preview.gesture
        let room = self.keys[entry: entry].key.room
        self.keys.moved(entry, at: now, span: self.limits.moverSpan)
        let isQuiet =
            self.keys[room: room].isQuiet(at: now, tick: self.limits.tick) && !self.isSoonFollowed(entry)
        self.keys[room: room].previewCame(at: now)
        let waitsForNobody =
            self.keys[room: room].heldCount == 0 && (isQuiet || self.keys[room: room].movers.count <= 1)
        if waitsForNobody, self.keys[room: room].hasCredit(self.limits.credit, at: now) {
            self.tally.sentAtOnce += 1
            self.send(preview, of: entry, at: now, into: &output)
            self.keys[room: room].departed(at: now, tick: self.limits.tick)
            return .sent
        }
        if self.keys[entry: entry].held != nil {
            self.fold(preview, into: entry)
        } else {
            self.hold(preview, in: entry, at: now)
        }
        guard self.schedule(room, with: entry, at: now) <= now else { return .held }
        self.tally.sentAtOnce += 1
        self.depart(room, at: now, into: &output)
        return .sent
    }

    /// A preview that was sent could not be delivered: the link to its receiver is full. It is held for the room's next
    /// departure, under whatever came since; what has become pointless in the meantime is dropped. Of several previews
    /// of one key, the newest must be returned first.
    package mutating func sendFailed(_ preview: Preview, at now: Instant) {
        self.tally.returned += 1
        let known = self.keys.entry(
            room: preview.room, element: preview.element, connection: preview.connection, at: now)
        // Unknown and without space: forgotten within one turn, so the table is full of others that are held.
        guard let index = known else {
            self.tally.stale += 1
            return
        }
        self.keys[entry: index].returned(sinceLast: preview.sinceLast)
        if self.keys[entry: index].sid.isEmpty { self.keys[entry: index].follow(session: preview.sid) }
        let entry = self.keys[entry: index]
        guard entry.sid == preview.sid, preview.gesture > entry.closed else {
            self.tally.stale += 1
            return
        }
        if let newer = entry.held {
            self.keys[entry: index].held = preview
            self.fold(newer, into: index)
        } else if preview.gesture >= entry.newest {
            self.hold(preview, in: index, at: now)
            // Not before a tick has passed: a link that is full now is full a moment later.
            self.schedule(entry.key.room, at: now, notBefore: now + self.limits.tick)
        } else {
            self.tally.stale += 1
        }
    }

    /// A commit passed through. Nothing of the gestures that it ends, or of older ones, leaves any more.
    @discardableResult
    package mutating func commitReceived(_ commit: Commit, at now: Instant) -> CommitOutcome {
        var outcome = CommitOutcome.nothingHeld
        for ended in commit.gestures where self.close(ended, by: commit, at: now) { outcome = .cancelled }
        return outcome
    }

    /// Time has come to `now`: the rooms whose moment it is depart, each with everything that it holds.
    package mutating func timeReached(_ now: Instant, into output: inout [Preview]) {
        while let room = self.departures.firstDue(at: now) { self.depart(room, at: now, into: &output) }
    }

    /// Everything held leaves now, whatever the pace: before the daemon ends.
    package mutating func flush(at now: Instant, into output: inout [Preview]) {
        while let next = self.departures.next, let room = self.departures.firstDue(at: next) {
            self.depart(room, at: now, into: &output)
        }
    }

    /// Forgets keys and rooms that had no traffic for long. Cheap when there are none: to be called in every turn.
    package mutating func forgetSilent(at now: Instant) {
        self.keys.forgetSilent(at: now)
    }

    /// How long the preview that has waited longest has been held; zero when none is.
    package func oldestHeldAge(at now: Instant) -> Nanoseconds {
        var oldest = Nanoseconds.zero
        // A room waits for a tick at most: those that depart first hold what has waited longest, but for a fraction.
        for room in self.departures.first(Self.oldestSearch) {
            for entry in self.keys[room: room].waiting where self.keys[entry: entry].held != nil {
                oldest = max(oldest, now.elapsed(since: self.keys[entry: entry].heldSince))
            }
        }
        return oldest
    }
}

// MARK: - Holding and sending

extension Coalescer {
    /// The entry of a preview's key. When all keys that could be forgotten for it have something to send, that is sent
    /// before its time: nothing newest is ever lost.
    private mutating func entry(
        of preview: Preview, at now: Instant, into output: inout [Preview]
    ) -> EntryIndex {
        while true {
            let known = self.keys.entry(
                room: preview.room, element: preview.element, connection: preview.connection, at: now)
            if let known { return known }
            self.tally.early += UInt64(self.heldCount)
            self.flush(at: now, into: &output)
        }
    }

    /// Closes one gesture; true when a preview of it was held.
    private mutating func close(_ ended: EndedGesture, by commit: Commit, at now: Instant) -> Bool {
        let known = self.keys.entry(
            room: commit.room, element: ended.element, connection: commit.connection, at: now)
        guard let entry = known else {
            // Full of held previews. A commit must not wait for them; that the gesture is closed is forgotten here and
            // remembered downstream.
            self.tally.evicted += 1
            return false
        }
        self.keys[entry: entry].follow(session: SessionKey.sid(of: commit.session))
        let closed = max(self.keys[entry: entry].closed, ended.gesture)
        self.keys[entry: entry].closed = closed
        guard let held = self.keys[entry: entry].held, held.gesture <= closed else { return false }
        self.release(entry)
        self.tally.cancelled += 1
        return true
    }

    /// Folds a newer preview into the one that is held.
    private mutating func fold(_ preview: Preview, into entry: EntryIndex) {
        if self.keys[entry: entry].held?.fold(preview) == true {
            self.tally.folded += 1
        } else {
            self.tally.replaced += 1
        }
    }

    /// Makes a preview wait for its room's departure.
    private mutating func hold(_ preview: Preview, in entry: EntryIndex, at now: Instant) {
        let room = self.keys[entry: entry].key.room
        self.keys[entry: entry].held = preview
        self.keys[entry: entry].heldSince = now
        self.heldCount += 1
        self.keys[room: room].heldCount += 1
        if !self.keys[entry: entry].isQueued {
            self.keys[entry: entry].isQueued = true
            self.keys[room: room].waiting.append(entry)
        }
    }

    /// The entry holds nothing any more.
    private mutating func release(_ entry: EntryIndex) {
        let room = self.keys[entry: entry].key.room
        self.keys[entry: entry].held = nil
        self.heldCount -= 1
        self.keys[room: room].heldCount -= 1
        guard self.keys[room: room].heldCount == 0 else { return }
        for entry in self.keys[room: room].waiting { self.keys[entry: entry].isQueued = false }
        self.keys[room: room].waiting.removeAll(keepingCapacity: true)
        self.departures.cancel(room)
    }

    private mutating func send(
        _ preview: Preview, of entry: EntryIndex, at now: Instant, into output: inout [Preview]
    ) {
        var preview = preview
        preview.sinceLast = self.keys[entry: entry].sent(at: now)
        self.tally.sent += 1
        output.append(preview)
    }
}

// MARK: - Departures

extension Coalescer {
    /// Sets when a room departs: as soon as it may when all its movers are there, else a tick after it began to wait
    /// or a little more than a tick after its last departure.
    /// - Parameter mover: the entry whose preview came; nil when none did.
    /// - Returns: the moment; it never moves back while the room waits.
    @discardableResult
    private mutating func schedule(
        _ room: RoomIndex, with mover: EntryIndex? = nil, at now: Instant, notBefore: Instant = .start
    ) -> Instant {
        var due = max(self.keys[room: room].mayDepart(credit: self.limits.credit), now, notBefore)
        if !self.isComplete(room, with: mover) {
            due = max(due, self.patience(of: room, with: mover, at: now))
        } else if self.keys[room: room].movers.count > 1 {
            // A room that may not depart immediately shares a moment with others.
            due = due > now ? self.nextCell(from: due) : self.nextGathering(at: now)
        }
        return self.departures.set(room, at: due)
    }

    private func nextCell(from due: Instant) -> Instant {
        let cell = self.limits.cell.count
        return due + Nanoseconds((cell - due.nanoseconds % cell) % cell)
    }

    /// When rooms of several movers may depart: now if some do at this very moment, or if none did a little before.
    private func nextGathering(at now: Instant) -> Instant {
        guard let last = self.gatheredAt, last != now else { return now }
        return max(now, last + self.limits.gathering)
    }

    /// True when every mover of the room has something held, or when it is better to depart with those that have: the
    /// gap that follows is wider than the one after which the room departed last, so that the others wait less.
    private func isComplete(_ room: RoomIndex, with mover: EntryIndex?) -> Bool {
        if self.keys[room: room].heldCount >= self.keys[room: room].movers.count { return true }
        guard let mover, let last = self.keys[room: room].lastDeparted, let gap = self.keys[entry: mover].gap,
            let present = self.keys[entry: last].gap
        else { return false }
        return gap > present + self.limits.cell / 2
    }

    /// Until when a room waits for movers that have nothing held yet.
    private func patience(of room: RoomIndex, with mover: EntryIndex?, at now: Instant) -> Instant {
        if let mover, self.isSoonFollowed(mover) { return now + self.limits.tick }
        return self.keys[room: room].patience(self.limits, at: now)
    }

    /// True when another mover came soon after this one before: it pays to wait for it.
    private func isSoonFollowed(_ entry: EntryIndex) -> Bool {
        guard let gap = self.keys[entry: entry].gap else { return false }
        return gap <= self.limits.tick
    }

    /// Everything that the room holds leaves, in the order in which it began to wait.
    private mutating func depart(_ room: RoomIndex, at now: Instant, into output: inout [Preview]) {
        if self.keys[room: room].movers.count > 1 { self.gatheredAt = now }
        for position in self.keys[room: room].waiting.indices {
            let entry = self.keys[room: room].waiting[position]
            self.keys[entry: entry].isQueued = false
            guard let held = self.keys[entry: entry].held.take() else { continue }
            self.heldCount -= 1
            self.keys[room: room].lastDeparted = entry
            self.send(held, of: entry, at: now, into: &output)
        }
        self.keys[room: room].waiting.removeAll(keepingCapacity: true)
        self.keys[room: room].heldCount = 0
        self.keys[room: room].departed(at: now, tick: self.limits.tick)
        self.departures.cancel(room)
    }
}
