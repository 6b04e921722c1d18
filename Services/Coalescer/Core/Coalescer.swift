internal import Canvas
internal import DequeModule
package import Wire

/// Collapses bursts of previews: at most one for each (room, element, connection) and tick, the latest value of each
/// field in it, and none of a gesture once its commit was seen.
///
///     previewReceived ──► room quiet, or nobody else moves; credit left ────► sent at once
///                    ├──► otherwise ──► held ◄── merged: same gesture ──┐
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
/// T / tick + 2 departures, and so at most so many previews of a key. Only the bound on memory may break that rate.
/// Movers of one room travel together: a preview waits for those of the others, but never longer than a tick. After a
/// tick of quiet it waits only for somebody who came soon after this mover before. A room departs before the widest
/// gap in its movers' round: what is held waits for the narrow ones. Rooms do not wait for each other, but those of
/// several movers depart when envelopes come, or at moments that many share.
///
/// Times are nanoseconds of one clock that never goes back. Nothing here waits: ``deadline`` says when ``advance`` is
/// due, and is nil while nothing is held.
package struct Coalescer {
    /// What became of a preview.
    package enum PreviewOutcome: Equatable, Sendable {
        /// It is in the output.
        case sent
        /// It waits for the tick, alone, merged with what waited already, or in its stead.
        case held
        /// Its gesture is over, or older than one that was seen.
        case stale
    }

    /// What a commit, which itself always passes, did here.
    package enum CommitOutcome: Equatable, Sendable {
        /// No preview of its gesture was held.
        case nothingHeld
        /// A held preview of its gesture, or of an older one, is gone.
        case cancelled
    }

    /// Rooms that are looked at for the oldest held preview.
    private static var oldestSearch: Int { 64 }

    /// The limits that it keeps to.
    package let limits: CoalescerLimits
    /// What it has done.
    package internal(set) var counters = CoalescerCounters()
    /// How many previews are held.
    package internal(set) var heldCount = 0

    /// Where each key's entry is.
    var index: [EntryKey: Int] = [:]
    /// The entries; those that are free are listed in `freeEntries`.
    var entries: [Entry] = []
    var freeEntries: [Int] = []
    /// Where each room's pace is kept.
    var roomIndex: [Identifier: Int] = [:]
    var rooms: [PacedRoom] = []
    var freeRooms: [Int] = []
    /// The rooms that hold something, by the time when they depart at the latest; some may have departed since, but
    /// the first has not. Empty when nothing is held.
    var departures: Deque<Departure> = []
    /// When a room of several movers departed last.
    private var gatheredAt: UInt64?
    /// Every entry once, in the order in which it is asked whether it is still needed.
    var aging: Deque<Aging> = []

    /// A coalescer that knows nothing yet.
    package init(limits: CoalescerLimits = CoalescerLimits()) {
        self.limits = limits
    }

    /// When ``advance(to:into:)`` must be called next; nil while nothing is held.
    package var deadline: UInt64? {
        self.departures.first?.due
    }

    /// How many keys are known.
    package var entryCount: Int { self.index.count }
    /// How many rooms are known.
    package var roomCount: Int { self.roomIndex.count }

    /// A preview came from a gateway. What has to leave now is appended to `output`.
    package mutating func previewReceived(
        _ preview: Preview, at now: UInt64, into output: inout [Preview]
    ) -> PreviewOutcome {
        self.advance(to: now, into: &output)
        self.counters.received += 1
        let at = self.entry(of: preview, at: now, into: &output)
        self.entries[at].follow(session: preview.sid)
        guard preview.gesture > self.entries[at].closed, preview.gesture >= self.entries[at].newest else {
            self.counters.stale += 1
            return .stale
        }
        self.entries[at].newest = preview.gesture
        let room = self.entries[at].key.room
        self.rooms[room].movers.note(&self.entries[at].movedIn, at: now, span: self.limits.moverSpan)
        self.noteRound(of: at, at: now)
        let isQuiet = self.rooms[room].isQuiet(at: now, tick: self.limits.tick) && !self.isSoonFollowed(at)
        self.rooms[room].busyAt = now
        let waitsForNobody = self.rooms[room].heldCount == 0 && (isQuiet || self.rooms[room].movers.count <= 1)
        if waitsForNobody, self.hasCredit(room, at: now) {
            self.counters.sentAtOnce += 1
            self.send(preview, of: at, at: now, into: &output)
            self.departed(room, at: now)
            return .sent
        }
        if self.entries[at].held != nil {
            self.fold(preview, into: at)
        } else {
            self.hold(preview, in: at, at: now)
        }
        guard self.schedule(room, with: at, at: now) <= now else { return .held }
        self.counters.sentAtOnce += 1
        self.depart(room, at: now, into: &output)
        return .sent
    }

    /// A preview that was sent could not be delivered: the link to its receiver is full. It is held for the room's next
    /// departure, under whatever came since; what has become pointless in the meantime is dropped. Of several previews
    /// of one key, the newest must be returned first.
    package mutating func sendFailed(_ preview: Preview, at now: UInt64) {
        self.counters.returned += 1
        let known = self.entry(
            room: preview.room, element: preview.element, connection: preview.connection, at: now)
        // Unknown and without space: forgotten within one turn, so the table is full of others that are held.
        guard let at = known else {
            self.counters.stale += 1
            return
        }
        self.entries[at].returned(sinceLast: preview.sinceLast)
        if self.entries[at].sid.isEmpty { self.entries[at].follow(session: preview.sid) }
        let entry = self.entries[at]
        guard entry.sid == preview.sid, preview.gesture > entry.closed else {
            self.counters.stale += 1
            return
        }
        if let newer = entry.held {
            self.entries[at].held = preview
            self.fold(newer, into: at)
        } else if preview.gesture >= entry.newest {
            self.hold(preview, in: at, at: now)
            // Not before a tick has passed: a link that is full now is full a moment later.
            self.schedule(self.entries[at].key.room, at: now, notBefore: now.saturatingAdd(self.limits.tick))
        } else {
            self.counters.stale += 1
        }
    }

    /// A commit passed through. Nothing of the gestures that it ends, or of older ones, leaves any more.
    package mutating func commitReceived(_ commit: Commit, at now: UInt64) -> CommitOutcome {
        var outcome = CommitOutcome.nothingHeld
        for ended in commit.gestures where self.close(ended, by: commit, at: now) { outcome = .cancelled }
        return outcome
    }

    /// Closes one gesture; true when a preview of it was held.
    private mutating func close(_ ended: EndedGesture, by commit: Commit, at now: UInt64) -> Bool {
        guard
            let at = self.entry(room: commit.room, element: ended.element, connection: commit.connection, at: now)
        else {
            // Full of held previews. A commit must not wait for them; that the gesture is closed is forgotten here and
            // remembered downstream.
            self.counters.evicted += 1
            return false
        }
        self.entries[at].follow(session: SessionKey.sid(of: commit.session))
        self.entries[at].closed = max(self.entries[at].closed, ended.gesture)
        guard let held = self.entries[at].held, held.gesture <= self.entries[at].closed else { return false }
        self.release(at)
        self.counters.cancelled += 1
        return true
    }

    /// Time has come to `now`: the rooms whose time it is depart, each with everything that it holds.
    package mutating func advance(to now: UInt64, into output: inout [Preview]) {
        while let first = self.departures.first, now >= first.due {
            self.depart(first.room, at: now, into: &output)
        }
    }

    /// Everything held leaves now, whatever the pace: the end is near.
    package mutating func flush(at now: UInt64, into output: inout [Preview]) {
        while let first = self.departures.first { self.depart(first.room, at: now, into: &output) }
    }

    /// How long the preview that has waited longest has been held, ns; 0 when none is.
    package func oldestHeldAge(at now: UInt64) -> UInt64 {
        var oldest: UInt64 = 0
        // A room waits for a tick at most: those that depart first hold what has waited longest, but for a fraction.
        for departure in self.departures.prefix(Self.oldestSearch) where departure.isCurrent(self.rooms) {
            for at in self.rooms[departure.room].line where self.entries[at].held != nil {
                let since = self.entries[at].heldSince
                oldest = max(oldest, now > since ? now - since : 0)
            }
        }
        return oldest
    }
}

extension Coalescer {
    /// Folds a newer preview into the one that is held.
    private mutating func fold(_ preview: Preview, into at: Int) {
        if self.entries[at].held?.fold(preview) == true {
            self.counters.folded += 1
        } else {
            self.counters.replaced += 1
        }
    }

    /// Makes a preview wait for its room's departure.
    private mutating func hold(_ preview: Preview, in at: Int, at now: UInt64) {
        let room = self.entries[at].key.room
        self.entries[at].held = preview
        self.entries[at].heldSince = now
        self.heldCount += 1
        self.rooms[room].heldCount += 1
        if !self.entries[at].isQueued {
            self.entries[at].isQueued = true
            self.rooms[room].line.append(at)
        }
    }

    /// Notes when a room departs: as soon as it may when all its movers are there, else a tick after it began to wait
    /// or a little more than a tick after its last departure.
    /// - Parameter mover: the entry whose preview came; nil when none did.
    /// - Returns: the time; it never moves back while the room waits.
    @discardableResult
    private mutating func schedule(
        _ room: Int, with mover: Int? = nil, at now: UInt64, notBefore: UInt64 = 0
    ) -> UInt64 {
        let cell = self.limits.cell
        var due = max(self.rooms[room].paidUntil.saturatingSubtract(self.limits.credit), now, notBefore)
        if !self.isComplete(room, with: mover) {
            due = max(due, self.patience(of: room, with: mover, at: now))
        } else if self.rooms[room].movers.count > 1 {
            // Who may not depart at once shares a moment with others.
            due = due > now ? due.saturatingAdd((cell - due % cell) % cell) : self.nextGathering(at: now)
        }
        if let noted = self.rooms[room].due, noted <= due { return noted }
        self.rooms[room].due = due
        self.rooms[room].ticket &+= 1
        self.departures.append(Departure(room: room, due: due, ticket: self.rooms[room].ticket))
        // Nearly in order as they come: the ticks are equal, only the rounding and the credit differ.
        var at = self.departures.count - 1
        while at > 0, self.departures[at - 1].due > due {
            self.departures.swapAt(at - 1, at)
            at -= 1
        }
        self.dropPastDepartures()
        return due
    }

    /// When rooms of several movers may depart: now if some do at this very moment, or if none did a little before.
    private func nextGathering(at now: UInt64) -> UInt64 {
        guard let last = self.gatheredAt, last != now else { return now }
        return max(now, last.saturatingAdd(self.limits.gathering))
    }

    /// True when every mover of the room has something held, or when it is better to depart with those that have: the
    /// gap that follows is wider than the one after which the room departed last, so that the others wait less.
    private func isComplete(_ room: Int, with mover: Int?) -> Bool {
        if self.rooms[room].heldCount >= self.rooms[room].movers.count { return true }
        guard let mover, let last = self.rooms[room].lastAboard,
            let (gap, present) = self.entries[mover].gap.flatMap({ gap in self.entries[last].gap.map { (gap, $0) } })
        else { return false }
        return gap > present.saturatingAdd(self.limits.cell / 2)
    }

    /// Until when a room waits for movers that have nothing held yet.
    private func patience(of room: Int, with mover: Int?, at now: UInt64) -> UInt64 {
        let (tick, cell) = (self.limits.tick, self.limits.cell)
        if let mover, self.isSoonFollowed(mover) { return now.saturatingAdd(tick) }
        let sinceLast = self.rooms[room].departedAt.map { $0.saturatingAdd(tick).saturatingAdd(cell) }
        let latest = min(now.saturatingAdd(tick), max(sinceLast ?? .max, now))
        return latest - latest % cell
    }

    /// A mover was heard: the one before it learns how long the room waited for this one.
    private mutating func noteRound(of at: Int, at now: UInt64) {
        let room = self.entries[at].key.room
        if let last = self.rooms[room].heardFrom, let since = self.rooms[room].heardAt, now >= since {
            self.entries[last].followed(after: now - since)
        }
        self.rooms[room].heardFrom = at
        self.rooms[room].heardAt = now
    }

    /// True when somebody else came soon after this mover before: it pays to wait for them.
    private func isSoonFollowed(_ at: Int) -> Bool {
        guard let gap = self.entries[at].gap else { return false }
        return gap <= self.limits.tick
    }

    /// True when the room may depart without going beyond its rate.
    private func hasCredit(_ room: Int, at now: UInt64) -> Bool {
        self.rooms[room].paidUntil <= now.saturatingAdd(self.limits.credit)
    }

    /// Everything that the room holds leaves, in the order in which it began to wait.
    private mutating func depart(_ room: Int, at now: UInt64, into output: inout [Preview]) {
        var line = exchange(&self.rooms[room].line, with: [])
        if self.rooms[room].movers.count > 1 { self.gatheredAt = now }
        for at in line {
            self.entries[at].isQueued = false
            guard let held = self.entries[at].held.take() else { continue }
            self.heldCount -= 1
            self.rooms[room].lastAboard = at
            self.send(held, of: at, at: now, into: &output)
        }
        line.removeAll(keepingCapacity: true)
        self.rooms[room].line = line
        self.rooms[room].heldCount = 0
        self.departed(room, at: now)
        self.emptied(room)
    }

    /// The room has paid for one tick more.
    private mutating func departed(_ room: Int, at now: UInt64) {
        self.rooms[room].busyAt = now
        self.rooms[room].departedAt = now
        self.rooms[room].paidUntil = max(self.rooms[room].paidUntil, now).saturatingAdd(self.limits.tick)
    }

    /// The entry holds nothing any more.
    private mutating func release(_ at: Int) {
        let room = self.entries[at].key.room
        self.entries[at].held = nil
        self.heldCount -= 1
        self.rooms[room].heldCount -= 1
        guard self.rooms[room].heldCount == 0 else { return }
        for at in self.rooms[room].line { self.entries[at].isQueued = false }
        self.rooms[room].line.removeAll(keepingCapacity: true)
        self.emptied(room)
    }

    /// The room holds nothing: its departure is off.
    private mutating func emptied(_ room: Int) {
        self.rooms[room].due = nil
        self.rooms[room].ticket &+= 1
        self.dropPastDepartures()
    }

    private mutating func dropPastDepartures() {
        while let first = self.departures.first, !first.isCurrent(self.rooms) { self.departures.removeFirst() }
    }

    private mutating func send(_ preview: Preview, of at: Int, at now: UInt64, into output: inout [Preview]) {
        var preview = preview
        preview.sinceLast = self.entries[at].sent(at: now)
        self.counters.sent += 1
        output.append(preview)
    }
}

extension UInt64 {
    /// The sum, or the greatest value when there is none.
    func saturatingAdd(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = self.addingReportingOverflow(other)
        return isOver ? .max : sum
    }

    /// The difference, or 0.
    func saturatingSubtract(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
