internal import Canvas
internal import DequeModule
package import Wire

/// Collapses bursts of previews: at most one for each (room, element, connection) and tick, the latest value of each
/// field in it, and none of a gesture once its commit was seen.
///
///     previewReceived ──► room quiet, nothing held ──────────────────────────► sent at once
///                    ├──► room busy ──► held ◄── merged: same gesture ──┐
///                    │                   │  ▲    replaced: newer ───────┤
///                    │                   │  └───────────────────────────┘
///                    │                   ├──► tick, flush, too many held ──► sent
///                    │                   └──► commit of the gesture ───────► cancelled
///                    └──► older gesture, or closed by its commit ──────────► dropped
///
/// Time is cut into cells of one tick by a grid that all rooms share. What is held leaves when the next cell begins,
/// so one wake-up serves every room and all movers of a room travel together; what finds its room quiet for a whole
/// tick leaves at once. Hence a room sends at most once in a cell, and a window of T ms, which touches at most
/// T / tick + 2 cells, sees at most so many previews of a key. Only the bound on memory may break that rate.
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
    var rooms: [Room] = []
    var freeRooms: [Int] = []
    /// Entries in the order in which they began to hold something; some may have been cancelled since. Empty when
    /// nothing is held.
    var queue: Deque<Int> = []
    /// When what is held leaves.
    var due: UInt64 = 0
    /// Every entry once, in the order in which it is asked whether it is still needed.
    var aging: Deque<Aging> = []

    /// A coalescer that knows nothing yet.
    package init(limits: CoalescerLimits = CoalescerLimits()) {
        self.limits = limits
    }

    /// When ``advance(to:into:)`` must be called next; nil while nothing is held.
    package var deadline: UInt64? {
        self.heldCount == 0 ? nil : self.due
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
        if self.entries[at].held != nil {
            self.merge(preview, into: at)
            return .held
        }
        let room = self.rooms[self.entries[at].key.room]
        if room.heldCount == 0, now >= room.quietFrom {
            self.counters.sentAtOnce += 1
            self.send(preview, of: at, at: now, into: &output)
            return .sent
        }
        self.hold(preview, in: at, at: now)
        return .held
    }

    /// A preview that was sent did not get away: its receiver takes no more at present. It waits for the next tick,
    /// behind whatever came since; what has become pointless in the meantime is dropped.
    package mutating func sendFailed(_ preview: Preview, at now: UInt64) {
        self.counters.returned += 1
        let known = self.entry(
            room: preview.room, element: preview.element, connection: preview.connection, at: now)
        // Unknown and without space: forgotten within one turn, so the table is full of others that are held.
        guard let at = known else {
            self.counters.stale += 1
            return
        }
        if self.entries[at].sid.isEmpty { self.entries[at].follow(session: preview.sid) }
        let entry = self.entries[at]
        guard entry.sid == preview.sid, preview.gesture > entry.closed, preview.gesture >= entry.newest else {
            self.counters.stale += 1
            return
        }
        self.entries[at].unsent(at: now, sinceLast: preview.sinceLast)
        guard let newer = entry.held else {
            self.hold(preview, in: at, at: now)
            return
        }
        self.entries[at].held = preview
        self.merge(newer, into: at)
    }

    /// A commit passed through. If it ends a gesture, nothing of that gesture or an older one leaves any more.
    package mutating func commitReceived(_ commit: Commit, at now: UInt64) -> CommitOutcome {
        guard commit.gesture > 0, case .transform(let element, _) = commit.command else { return .nothingHeld }
        guard let at = self.entry(room: commit.room, element: element, connection: commit.connection, at: now) else {
            // Full of held previews. A commit must not wait for them; that the gesture is closed is forgotten here and
            // remembered downstream.
            self.counters.evicted += 1
            return .nothingHeld
        }
        self.entries[at].follow(session: SessionKey.sid(of: commit.session))
        self.entries[at].closed = max(self.entries[at].closed, commit.gesture)
        guard let held = self.entries[at].held, held.gesture <= self.entries[at].closed else { return .nothingHeld }
        self.release(at)
        self.counters.cancelled += 1
        return .cancelled
    }

    /// Time has come to `now`: if the tick is due, everything held leaves, in the order in which it began to wait.
    package mutating func advance(to now: UInt64, into output: inout [Preview]) {
        guard self.heldCount > 0, now >= self.due else { return }
        self.flush(at: now, into: &output)
    }

    /// Everything held leaves now, whatever the pace: the end is near.
    package mutating func flush(at now: UInt64, into output: inout [Preview]) {
        while let at = self.queue.popFirst() {
            self.entries[at].isQueued = false
            guard let held = self.entries[at].held else { continue }
            self.release(at)
            self.send(held, of: at, at: now, into: &output)
        }
    }

    /// How long the preview that has waited longest has been held, ns; 0 when none is.
    package func oldestHeldAge(at now: UInt64) -> UInt64 {
        guard let first = self.queue.first(where: { self.entries[$0].held != nil }) else { return 0 }
        let since = self.entries[first].heldSince
        return now > since ? now - since : 0
    }
}

extension Coalescer {
    /// Folds a newer preview into the one that is held, or puts it in its place when its gesture is a newer one: fields
    /// of two gestures never travel in one preview.
    private mutating func merge(_ preview: Preview, into at: Int) {
        guard var held = self.entries[at].held.take() else { return }
        if held.gesture == preview.gesture {
            var fields = held.fields
            fields.merge(preview.fields)
            let after = max(held.after, preview.after)
            let (folded, isOver) = held.folded.addingReportingOverflow(preview.folded)
            held = preview
            held.fields = fields
            held.after = after
            held.folded = isOver ? .max : folded
            self.counters.folded += 1
        } else {
            held = preview
            self.counters.replaced += 1
        }
        self.entries[at].held = held
    }

    /// Makes a preview wait for the tick.
    private mutating func hold(_ preview: Preview, in at: Int, at now: UInt64) {
        if self.heldCount == 0 {
            self.due = self.nextTick(after: now)
        }
        self.entries[at].held = preview
        self.entries[at].heldSince = now
        self.heldCount += 1
        self.rooms[self.entries[at].key.room].heldCount += 1
        if !self.entries[at].isQueued {
            self.entries[at].isQueued = true
            self.queue.append(at)
        }
    }

    /// The beginning of the cell after the one that `now` lies in.
    private func nextTick(after now: UInt64) -> UInt64 {
        let (next, isOver) = (now - now % self.limits.tick).addingReportingOverflow(self.limits.tick)
        return isOver ? .max : next
    }

    /// The entry holds nothing any more.
    private mutating func release(_ at: Int) {
        self.entries[at].held = nil
        self.heldCount -= 1
        self.rooms[self.entries[at].key.room].heldCount -= 1
        guard self.heldCount == 0 else { return }
        // Only entries that were cancelled are left in the queue; no tick will come for them.
        while let at = self.queue.popFirst() {
            self.entries[at].isQueued = false
        }
    }

    private mutating func send(_ preview: Preview, of at: Int, at now: UInt64, into output: inout [Preview]) {
        var preview = preview
        preview.sinceLast = self.entries[at].sent(at: now)
        let (quietFrom, isOver) = now.addingReportingOverflow(self.limits.tick)
        self.rooms[self.entries[at].key.room].quietFrom = isOver ? .max : quietFrom
        self.counters.sent += 1
        output.append(preview)
    }
}
