import DequeModule
package import Timing
package import Wire

/// Collapses bursts of previews to at most one for each (room, element, connection) and tick, the latest, and drops those
/// of gestures that a commit ends.
///
///     previewReceived ──► credit left ──► sent immediately
///                    ├──► otherwise ────► held ◄─┐
///                    │                     │ └───┴─ replaced by the next one
///                    │                     ├──► its tick ────────────────► sent
///                    │                     ├──► shutdown, too many held ─► sent
///                    │                     └──► end of the gesture ──────► cancelled
///                    └──► older gesture ──► dropped
///
/// A key is sent at most once in a tick on average, with a credit of one tick: T ms contain at most T / tick + 2 previews
/// of a key, and an app that sends as fast as the tick, or a little unevenly, never waits. Only the bound on memory may
/// exceed that rate. Keys do not wait for each other: the elements of a group, which come together and at one rate, leave
/// together.
package struct Coalescer {
    /// The outcome of a received preview.
    package enum PreviewOutcome: Equatable, Sendable {
        /// Appended to the output.
        case sent
        /// Held for its tick, perhaps in the place of another one.
        case held
        /// Its gesture is older than one that was seen.
        case stale
    }

    /// An entry that holds a preview, or did when it was queued.
    private struct Waiting {
        let entry: EntryIndex
        let due: Instant
    }

    /// How many of those that wait are searched for the oldest one.
    private static let oldestSearch = 64

    private let limits: CoalescerLimits
    private var tally = CoalescerCounters()
    private var keys: KeyTable
    /// In the order in which they are due. The first one holds a preview.
    private var waiting: Deque<Waiting> = []
    /// The number of held previews.
    package private(set) var heldCount = 0

    /// A coalescer without keys.
    package init(limits: CoalescerLimits = CoalescerLimits()) {
        self.limits = limits
        self.keys = KeyTable(limits: limits)
    }

    /// When ``timeReached(_:into:)`` must be called next; nil while nothing is held.
    package var nextDeadline: Instant? { self.waiting.first?.due }

    package var counters: CoalescerCounters {
        var counters = self.tally
        counters.evicted += self.keys.evicted
        return counters
    }

    /// The number of known keys.
    package var entryCount: Int { self.keys.count }

    // MARK: Events

    /// A preview arrived from a gateway. Previews that leave now are appended to `output`.
    @discardableResult
    package mutating func previewReceived(
        _ preview: Preview, at now: Instant, into output: inout [Preview]
    ) -> PreviewOutcome {
        self.timeReached(now, into: &output)
        self.tally.received += 1
        let entry = self.entry(of: preview, at: now, into: &output)
        self.keys[entry].follow(session: preview.sid)
        guard preview.gesture >= self.keys[entry].newest else {
            self.tally.stale += 1
            return .stale
        }
        self.keys[entry].newest = preview.gesture
        guard self.keys[entry].held != nil || self.mayLeave(entry) > now else {
            self.tally.sentAtOnce += 1
            self.send(preview, of: entry, after: .zero, at: now, into: &output)
            return .sent
        }
        if self.keys[entry].hold(preview, at: now) {
            self.tally.replaced += 1
        } else {
            self.heldCount += 1
            self.enqueue(entry)
        }
        return .held
    }

    /// A commit ends a gesture: what is held of it, or of an older one, is dropped. What comes behind the end, or has left
    /// before it, is dropped by the fan-out.
    package mutating func gestureEnded(_ end: GestureEnd) {
        guard let entry = self.keys.find(EntryKey(end.room, end.element, end.connection)),
            let held = self.keys[entry].held, end.endedPreviews.includes(held)
        else { return }
        self.release(entry)
        self.tally.cancelled += 1
        self.dropEmpty()
    }

    /// Time has reached `now`: what is due is sent.
    package mutating func timeReached(_ now: Instant, into output: inout [Preview]) {
        while let first = self.waiting.first, first.due <= now {
            guard self.mayLeave(first.entry) > now else {
                self.sendFirst(at: now, into: &output)
                continue
            }
            // What was held was cancelled, and what came next left immediately.
            self.waiting.removeFirst()
            self.keys[first.entry].isQueued = false
            self.enqueue(first.entry)
            self.dropEmpty()
        }
    }

    /// Sends all held previews immediately, regardless of the rates, before the daemon ends.
    package mutating func flush(at now: Instant, into output: inout [Preview]) {
        while !self.waiting.isEmpty { self.sendFirst(at: now, into: &output) }
    }

    /// Evicts keys without recent traffic. Cheap when there are none; call it in every turn.
    package mutating func forgetSilent(at now: Instant) {
        self.keys.forgetSilent(at: now)
    }

    /// The age of the oldest held preview, as far as it is among the next that leave; zero when none is held.
    package func oldestHeldAge(at now: Instant) -> Nanoseconds {
        self.waiting.prefix(Self.oldestSearch).map(\.entry).filter { self.keys[$0].held != nil }
            .map { now.elapsed(since: self.keys[$0].heldSince) }.max() ?? .zero
    }

    // MARK: Holding and sending

    /// The entry of a preview's key. If all candidates for eviction have held previews, those are sent early: a newest
    /// value is never lost.
    private mutating func entry(of preview: Preview, at now: Instant, into output: inout [Preview]) -> EntryIndex {
        while true {
            let key = EntryKey(preview.room, preview.element, preview.connection)
            if let known = self.keys.entry(of: key, at: now) { return known }
            self.tally.early += UInt64(self.heldCount)
            self.flush(at: now, into: &output)
        }
    }

    /// The earliest time at which a preview of a key may be sent without exceeding its rate.
    private func mayLeave(_ entry: EntryIndex) -> Instant { self.keys[entry].mayLeave(credit: self.limits.credit) }

    /// Has an entry wait for its rate.
    private mutating func enqueue(_ entry: EntryIndex) {
        guard !self.keys[entry].isQueued else { return }
        self.keys[entry].isQueued = true
        self.waiting.append(Waiting(entry: entry, due: self.mayLeave(entry)))
        // Insertions are nearly sorted: the ticks are equal, only the credit differs.
        var index = self.waiting.count - 1
        while index > 0, self.waiting[index - 1].due > self.waiting[index].due {
            self.waiting.swapAt(index - 1, index)
            index -= 1
        }
    }

    /// Sends what the first entry of the queue holds.
    private mutating func sendFirst(at now: Instant, into output: inout [Preview]) {
        let entry = self.waiting.removeFirst().entry
        self.keys[entry].isQueued = false
        let wait = now.elapsed(since: self.keys[entry].heldSince)
        if let held = self.release(entry) { self.send(held, of: entry, after: wait, at: now, into: &output) }
        self.dropEmpty()
    }

    /// Removes what an entry holds.
    @discardableResult
    private mutating func release(_ entry: EntryIndex) -> Preview? {
        guard let held = self.keys[entry].release() else { return nil }
        self.heldCount -= 1
        return held
    }

    /// Takes entries from the front of the queue that hold nothing any more.
    private mutating func dropEmpty() {
        while let first = self.waiting.first, self.keys[first.entry].held == nil {
            self.keys[first.entry].isQueued = false
            self.waiting.removeFirst()
        }
    }

    /// Sends a preview, stamped with the time since the previous one of its key.
    private mutating func send(
        _ preview: Preview, of entry: EntryIndex, after wait: Nanoseconds, at now: Instant, into output: inout [Preview]
    ) {
        var preview = preview
        preview.sinceLast = self.keys[entry].sent(at: now, tick: self.limits.tick, credit: self.limits.credit)
        self.tally.flushed(after: wait)
        output.append(preview)
    }
}

/// A ``Coalescer``'s counters since its start; monotonic.
package struct CoalescerCounters: Equatable, Sendable {
    /// Previews received.
    package var received: UInt64 = 0
    /// Previews sent.
    package var sent: UInt64 = 0
    /// Sent previews that did not wait for their key's rate.
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
