package import Timing
package import Wire

/// The flush interval of each room: none while the gateway keeps up, else longer for the rooms that cost most.
///
///     none ──late──► 33 ms ──late──► 66 ms ──late──► 200 ms
///          ◄──calm──       ◄──calm──       ◄──calm──
///
/// After two windows in a row in which previews were late (``LatenessGauge``) the rooms that have at least the mean of the
/// deliveries take a step. So a quiet room does not pay for a loud one, and many equal rooms pay alike. After a time of
/// calm, in which single late windows do not count, the rooms with the longest interval that cost no more than their
/// mean go a step back. If that was too much the next time of calm is four times as long; if not, half as long. Rooms in
/// which nothing was shown for a second have no interval.
package struct FlushIntervals: Sendable {
    private struct Slowed {
        var interval: FlushInterval
        /// When previews of its members were last sent on.
        var sentAt = Instant.start
    }

    /// The least time between two deliveries to any room, which the load asks for (``LoadGauge``).
    package var least = Nanoseconds.zero

    /// Changes of a room's interval.
    package private(set) var changes: UInt64 = 0
    /// Rooms that have one.
    private var slowed: [Identifier: Slowed] = [:]
    /// When each room's previews were delivered last, as long as one may have to wait.
    private var deliveredAt: [Identifier: Instant] = [:]
    /// Each room's deliveries of late: they are halved with every window. They are counted from the first window that is not
    /// calm, for as long as it matters.
    private var costs: [Identifier: Int] = [:]
    private var isMetering = false
    private var gauge: LatenessGauge
    /// How many windows in a row were late.
    private var lateWindows = 0
    /// How long it must be calm before rooms step back, and how long it was.
    private var patience: Nanoseconds
    private var calmTime = Nanoseconds.zero
    private var reviewedAt = Instant.start
    /// When rooms stepped back; nil once that has shown to be too much.
    private var steppedBackAt: Instant?

    private let calm: Nanoseconds
    /// The longest time of calm that is waited for, as a multiple of the usual one.
    private static let maxPatience: UInt64 = 16
    /// One late window may be a moment in which the whole machine stood still.
    private static let lateWindowsInARow = 2
    /// A gateway that is late so soon after rooms stepped back is late because they did.
    private static let probation = Nanoseconds.seconds(2)
    /// A room in which nothing is shown for so long is silent.
    private static let silence = Nanoseconds.seconds(1)

    /// No room has one.
    /// - Parameters:
    ///   - late: previews that are later than this are too late.
    ///   - calm: how long all must be well before rooms step back.
    package init(late: Nanoseconds, calm: Nanoseconds) {
        self.gauge = LatenessGauge(bound: late)
        self.calm = calm
        self.patience = calm
    }

    /// How late previews were on average in the last window.
    package var lateness: Nanoseconds { self.gauge.mean }
    /// True when no room has an interval.
    package var isIdle: Bool { self.slowed.isEmpty }
    /// True when previews of no room wait for each other.
    package var deliversImmediately: Bool { self.isIdle && self.least == .zero }
    /// When ``review(at:)`` has something to do although nothing happens; nil while no room has an interval.
    package var nextReview: Instant? { self.isIdle ? nil : self.gauge.windowEnd }

    /// A room's interval.
    package subscript(room: Identifier) -> FlushInterval { self.slowed[room]?.interval ?? .none }

    /// How many rooms have an interval other than none.
    package func count(of interval: FlushInterval) -> Int { self.slowed.values.count { $0.interval == interval } }

    /// When a room's previews may be delivered that are there now.
    ///
    /// A little sooner than the interval says: rooms whose previews wait for it are delivered a little earlier each time,
    /// until they are when they come, which is at different times for each room (``sendingDue(_:at:)``).
    package func due(_ room: Identifier, at now: Instant) -> Instant {
        let interval = max(self.least, self[room].length / 8 * 7)
        guard interval > .zero, let last = self.deliveredAt[room] else { return now }
        return max(now, last + interval)
    }

    /// When previews of a room's members that are there now may be sent on.
    ///
    /// Each room has its own moment in the interval. If all were sent at the same, what apps send, and commits first of all,
    /// would wait for all of them.
    package func sendingDue(_ room: Identifier, at now: Instant) -> Instant {
        guard let slowed = self.slowed[room] else { return now }
        return max(now, slowed.sentAt.next(room, every: slowed.interval.sending))
    }

    /// Previews of a room's members were sent on.
    package mutating func sent(_ room: Identifier, at now: Instant) {
        self.slowed[room]?.sentAt = now
    }

    /// A room's previews were delivered.
    /// - Parameters:
    ///   - deliveries: the previews, times the members that got them.
    ///   - lateness: how long after they might have been.
    package mutating func delivered(_ deliveries: Int, of room: Identifier, lateness: Nanoseconds, at now: Instant) {
        self.gauge.note(lateness)
        if !self.deliversImmediately { self.deliveredAt[room] = now }
        if self.isMetering { self.costs[room, default: 0] += deliveries }
    }

    /// The room has no members any more.
    package mutating func forget(_ room: Identifier) {
        self.slowed[room] = nil
        self.costs[room] = nil
        self.deliveredAt[room] = nil
    }

    /// Judges the last window, if it is over: rooms take a step, or go one back.
    /// - Returns: the rooms whose interval has changed.
    package mutating func review(at now: Instant) -> [Identifier] {
        guard let verdict = self.gauge.verdict(at: now) else { return [] }
        let window = now.elapsed(since: exchange(&self.reviewedAt, with: now))
        self.lateWindows = verdict == .late ? self.lateWindows + 1 : 0
        if verdict == .calm { self.calmTime += window }
        var changed = self.silentRooms(at: now)
        for room in changed { self.slowed[room] = nil }
        if self.lateWindows == Self.lateWindowsInARow {
            changed += self.stepUp(at: now)
        } else if verdict == .calm, self.calmTime >= self.patience {
            changed += self.stepBack(at: now)
        }
        if self.deliversImmediately { self.deliveredAt = [:] }
        self.isMetering = verdict != .calm || !self.isIdle
        self.costs = self.isMetering ? self.costs.compactMapValues { $0 > 1 ? $0 / 2 : nil } : [:]
        self.changes += UInt64(changed.count)
        return changed
    }

    private func silentRooms(at now: Instant) -> [Identifier] {
        self.slowed.keys.filter { now >= self.deliveredAt[$0, default: .start] + Self.silence }
    }

    private mutating func stepUp(at now: Instant) -> [Identifier] {
        if let steppedBackAt = exchange(&self.steppedBackAt, with: nil), now < steppedBackAt + Self.probation {
            self.patience = min(self.patience * 4, self.calm * Self.maxPatience)
        } else if self.isIdle {
            self.patience = self.calm
        }
        self.lateWindows = 0
        self.calmTime = .zero
        let costs = self.costs.filter { self[$0.key].longer != nil }
        guard let mean = Self.mean(costs.values) else { return [] }
        let rooms = costs.filter { $0.value >= mean }.keys
        for room in rooms {
            guard let longer = self[room].longer else { continue }
            if self.slowed[room] == nil { self.deliveredAt[room] = now }
            self.slowed[room, default: Slowed(interval: longer)].interval = longer
        }
        return Array(rooms)
    }

    private mutating func stepBack(at now: Instant) -> [Identifier] {
        // The step before was not too much, or it would be forgotten.
        if self.steppedBackAt != nil { self.patience = max(self.calm, self.patience / 2) }
        self.steppedBackAt = now
        self.calmTime = .zero
        guard let longest = self.slowed.values.map(\.interval).max(), let shorter = longest.shorter else { return [] }
        let slowest = self.slowed.filter { $0.value.interval == longest }.map(\.key)
        guard let mean = Self.mean(slowest.map { self.costs[$0, default: 0] }) else { return [] }
        let rooms = slowest.filter { self.costs[$0, default: 0] <= mean }
        for room in rooms {
            if shorter == .none { self.slowed[room] = nil } else { self.slowed[room]?.interval = shorter }
        }
        return rooms
    }

    /// The mean of costs; nil of none.
    private static func mean(_ costs: some Collection<Int>) -> Int? {
        costs.isEmpty ? nil : costs.reduce(0, +) / costs.count
    }
}

extension Instant {
    /// A room's next moment.
    fileprivate func next(_ room: Identifier, every interval: Nanoseconds) -> Instant {
        let offset = interval.count / UInt64(Shard.count) * UInt64(Shard.of(room: room))
        let periods = self.nanoseconds < offset ? 0 : (self.nanoseconds - offset) / interval.count + 1
        return Instant(nanoseconds: offset + periods * interval.count)
    }
}
