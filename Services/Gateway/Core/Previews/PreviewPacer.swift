import Timing
import Wire

/// When previews leave, in both directions: immediately while all is well, else by their room's interval and in turns.
///
///     a preview ──► nothing waits, no interval, CPU to spare ────────► leaves
///              └──► waits, folded ──► its room's interval is over, its turn ──► leaves
///                        └──► its gesture ends ──► dropped
///
/// What a turn may deliver is bounded, so that nothing else waits long for the previews of many rooms: not the commits
/// of apps, nor their results. A room of more members than that takes several turns (``PreviewDelivery``).
struct PreviewPacer {
    /// What is due of one room.
    struct Due {
        let room: Identifier
        let shown: RoomShow
        /// How long after they might have been.
        let lateness: Nanoseconds
    }

    private(set) var intervals: FlushIntervals
    /// Previews of this gateway's members that wait for their room's interval before they are sent on.
    private var unsent = WaitingRooms()
    /// Previews that wait to be delivered to members.
    private var waiting = WaitingRooms()
    /// How many more members this turn may deliver to.
    private var allowance: Int
    private let limits: GatewayLimits

    /// Moments are whole milliseconds: half a one is the mean of what they do not show.
    private static let unseen = Nanoseconds.microseconds(500)

    init(limits: GatewayLimits) {
        self.limits = limits
        self.allowance = limits.previewWrites
        self.intervals = FlushIntervals(late: limits.late, calm: limits.calm)
    }

    /// How many rooms' previews wait for their members.
    var waitingCount: Int { self.waiting.count }

    /// How far apart apps of a room are asked to send previews.
    func requestedInterval(in room: Identifier) -> Nanoseconds {
        self.intervals[room].requested(usual: self.limits.throttle)
    }

    /// When previews are due, or intervals to be reviewed; nil when no preview waits and no room is slowed down.
    mutating func nextDeadline() -> Instant? {
        if self.waiting.isEmpty, self.unsent.isEmpty { return self.intervals.nextReview }
        return [self.waiting.nextDue(), self.unsent.nextDue(), self.intervals.nextReview].compactMap { $0 }.min()
    }

    /// A turn of the event loop begins.
    mutating func turnBegan() { self.allowance = self.limits.previewWrites }

    // MARK: From members

    /// True while previews of members leave immediately, whatever their room.
    var sendsImmediately: Bool { self.intervals.isIdle && self.unsent.isEmpty }

    /// Keeps a member's preview while its room's interval does not allow it: it would wait for the same at the other end,
    /// after it has cost three hops.
    /// - Returns: false when it may be sent on.
    mutating func keepsBack(_ preview: Preview, at now: Instant) -> Bool {
        let due = self.intervals.sendingDue(preview.room, at: now)
        guard due > now || self.unsent.contains(preview.room) else {
            self.intervals.sent(preview.room, at: now)
            return false
        }
        self.unsent.hold(RoomShow(previews: [preview]), of: preview.room, until: due)
        return true
    }

    /// Removes and returns the previews of the next room whose interval allows that they are sent on.
    mutating func nextUnsent(at now: Instant) -> ArraySlice<Preview>? {
        guard let first = self.unsent.firstDue(at: now) else { return nil }
        self.intervals.sent(first.room, at: now)
        return self.unsent.remove(first.room).previews
    }

    /// Removes and returns what a room's members showed last, whatever its interval: one of them goes.
    mutating func removeUnsent(of room: Identifier) -> ArraySlice<Preview> { self.unsent.remove(room).previews }

    // MARK: To members

    /// Keeps previews and awareness of one room while its interval or this turn does not allow them.
    /// - Returns: false when they may be delivered.
    mutating func keepsBack(_ shown: RoomShow, of room: Identifier, at now: Instant) -> Bool {
        if self.intervals.deliversImmediately, self.waiting.isEmpty, self.allowance > 0 { return false }
        let due = self.intervals.due(room, at: now)
        let hasTurn = self.allowance > 0 && self.waiting.firstDue(at: now) == nil
        guard due > now || !hasTurn || self.waiting.contains(room) else { return false }
        self.waiting.hold(shown, of: room, until: due)
        return true
    }

    /// Removes and returns the next previews that are due, as far as this turn goes.
    mutating func nextDue(at now: Instant) -> Due? {
        while self.allowance > 0, let first = self.waiting.firstDue(at: now) {
            let due = self.intervals.due(first.room, at: now)
            if due > now {
                self.waiting.move(first.room, to: due)
            } else {
                let lateness = now.elapsed(since: first.since) + Self.unseen
                return Due(room: first.room, shown: self.waiting.remove(first.room), lateness: lateness)
            }
        }
        return nil
    }

    /// The previews of each room wait for each other: a write to its members takes all of them along.
    /// - Parameter share: of the longest wait; 0: they do not wait.
    mutating func wait(_ share: Double) { self.intervals.least = self.limits.throttle.part(share) }

    /// Removes and returns the previews that wait for a room's members, even before its interval is over.
    mutating func removeWaiting(of room: Identifier) -> RoomShow { self.waiting.remove(room) }

    /// Previews of a room were delivered.
    /// - Parameters:
    ///   - deliveries: how many previews members got, together.
    ///   - members: how many the room has.
    mutating func delivered(
        _ deliveries: Int, of room: Identifier, to members: Int, lateness: Nanoseconds, at now: Instant
    ) {
        self.allowance -= members
        self.intervals.delivered(deliveries, of: room, lateness: lateness, at: now)
    }

    /// Drops the waiting previews of a room that must not be shown any more.
    mutating func drop(_ ended: [EndedPreviews], in room: Identifier) {
        self.waiting.drop(ended, in: room)
        self.unsent.drop(ended, in: room)
    }

    /// True when nothing waits that a gesture's end could make pointless.
    var isEmpty: Bool { self.waiting.isEmpty && self.unsent.isEmpty }

    // MARK: Intervals

    /// Judges the last window, see ``FlushIntervals/review(at:)``.
    /// - Returns: the rooms whose interval has changed.
    mutating func review(at now: Instant) -> [Identifier] {
        let changed = self.intervals.review(at: now)
        for room in changed {
            self.waiting.move(room, to: self.intervals.due(room, at: now))
            self.unsent.move(room, to: self.intervals.sendingDue(room, at: now))
        }
        return changed
    }

    /// A room has no members any more: what waits for them is dropped.
    /// - Returns: what they showed last, to be sent on.
    mutating func forget(_ room: Identifier) -> ArraySlice<Preview> {
        _ = self.waiting.remove(room)
        self.intervals.forget(room)
        return self.unsent.remove(room).previews
    }
}
