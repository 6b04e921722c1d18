package import Timing
package import Wire

/// The pace of each room: which rooms are slowed down when the gateway does not keep up, and when they are let go.
///
///     full ──late──► half ──late──► quarter ──late──► slow ──late──► commits only
///          ◄─calm──      ◄─calm───         ◄──calm──      ◄──calm───
///
/// Previews may be late (``LatenessGauge``), or commits beside them (``CommitGauge``). Slowing down is fast: after two late
/// windows rooms that make a quarter of all deliveries go one step down, those that cost most first, until no window is
/// late. Thus many busy rooms are slowed before a quiet one is. Late commits alone leave half of the deliveries alone.
///
/// Speeding up is slow: after a time of calm, in which single late windows do not count, rooms go up by a step that may
/// cost an eighth more in all, the slowest first. If that was too much it is taken back at once, and the next time of calm
/// is four times as long; if not, half as long. When even at full pace the rooms would cost less than half of the most
/// they have cost, the load is gone: then nothing is tried, and steps up follow each other soon.
package struct RoomPaces: Sendable {
    private struct Slowed {
        var pace: Pace
        /// When its previews were delivered last, and when those of its members were last sent on.
        var departedAt: Instant
        var sentAt = Instant.start
        /// What it cost when it was slowed down.
        var cost: Int
    }

    /// Rooms that were sped up together, and their paces before.
    private struct Attempt {
        let at: Instant
        var before: [Identifier: Slowed]
    }

    /// Changes of a room's pace.
    package private(set) var changes: UInt64 = 0
    private var slowed: [Identifier: Slowed] = [:]
    private var costs = RoomCosts()
    private var gauge: LatenessGauge
    private var commits = CommitGauge()
    /// How long it must be calm before rooms speed up, and how long it was since they last did or the gateway was late.
    private var patience: Nanoseconds
    private var calmTime = Nanoseconds.zero
    /// Whether the last window was late for previews, not only for commits.
    private var arePreviewsLate = false
    /// How many windows in a row were late.
    private var lateWindows = 0
    private var reviewedAt = Instant.start
    /// When rooms were slowed down the last time.
    private var slowedAt = Instant.start
    /// The last step up, until it has shown whether it was too much.
    private var attempt: Attempt?

    private let calm: Nanoseconds
    /// The longest time of calm that is waited for, as a multiple of the usual one.
    private static let maxPatience: UInt64 = 16
    /// The load gone, steps up follow each other in this part of the usual time of calm.
    private static let haste: UInt64 = 4
    /// One late window may be a moment in which the whole machine stood still.
    private static let lateWindowsInARow = 2
    /// How long a step down takes to show.
    private static let settling = Nanoseconds.milliseconds(250)
    /// Previews that cost no more than this part of the most are not what commits wait for: a slow disk may be.
    private static let cheapness = 2
    /// A gateway that is late so soon after rooms sped up is late because they did.
    private static let probation = Nanoseconds.seconds(2)

    /// All rooms at full pace.
    /// - Parameters:
    ///   - late: previews that are later than this are too late.
    ///   - calm: how long all must be well before rooms speed up.
    package init(late: Nanoseconds, calm: Nanoseconds) {
        self.gauge = LatenessGauge(bound: late)
        self.calm = calm
        self.patience = calm
    }

    /// How late previews were on average in the last window.
    package var lateness: Nanoseconds { self.gauge.mean }
    /// How long commits took on average in the last window.
    package var commitTime: Nanoseconds { self.commits.mean }
    /// How long they usually take; nil while that is not known.
    package var usualCommitTime: Nanoseconds? { self.commits.usual }
    /// True when no room is slowed down.
    package var isIdle: Bool { self.slowed.isEmpty }
    /// When ``review(at:)`` has something to do although nothing happens; nil while no room is slowed down.
    package var nextReview: Instant? { self.isIdle ? nil : self.gauge.windowEnd }

    /// A room's pace.
    package func pace(of room: Identifier) -> Pace { self.slowed[room]?.pace ?? .full }

    /// How many rooms are at a pace other than full.
    package func count(at pace: Pace) -> Int { self.slowed.values.count { $0.pace == pace } }

    /// When a room's previews may be delivered that are there now; `.never`: not at this pace.
    ///
    /// A little sooner than the interval says: rooms whose previews wait for it are delivered a little earlier each time,
    /// until they are when they come, which is at different times for each room (``sendingDue(_:at:)``).
    package func due(_ room: Identifier, at now: Instant) -> Instant {
        guard let slowed = self.slowed[room] else { return now }
        guard let interval = slowed.pace.interval else { return .never }
        return max(now, slowed.departedAt + interval / 8 * 7)
    }

    /// When previews of a room's members that are there now may be sent on; `.never`: not at this pace.
    ///
    /// Each room has its own moment in the interval. If all were sent at the same, what apps send, and commits first of all,
    /// would wait for all of them.
    package func sendingDue(_ room: Identifier, at now: Instant) -> Instant {
        guard let slowed = self.slowed[room] else { return now }
        guard let interval = slowed.pace.interval else { return .never }
        return max(now, slowed.sentAt.next(room, every: interval))
    }

    /// A room's previews were delivered.
    /// - Parameters:
    ///   - deliveries: the previews, times the members that got them.
    ///   - lateness: how long after they might have been.
    package mutating func flushed(_ room: Identifier, deliveries: Int, lateness: Nanoseconds, at now: Instant) {
        self.gauge.note(lateness)
        self.costs.delivered(deliveries, of: room)
        if !self.slowed.isEmpty { self.slowed[room]?.departedAt = now }
    }

    /// A preview came while rooms are slowed down.
    /// - Parameters:
    ///   - folded: how many of the app's are in it.
    ///   - members: how many will see it.
    package mutating func arrived(_ room: Identifier, folded: UInt32, members: Int) {
        self.costs.offered(members * max(Int(folded), self.pace(of: room).span))
    }

    /// Previews of a room's members were sent on.
    package mutating func sent(_ room: Identifier, at now: Instant) {
        self.slowed[room]?.sentAt = now
    }

    /// A commit that was sent once has its result.
    /// - Parameter time: since it was accepted.
    package mutating func commitAnswered(after time: Nanoseconds) {
        self.commits.note(time)
    }

    /// The room has no members any more.
    package mutating func forget(_ room: Identifier) {
        if !self.slowed.isEmpty { self.slowed[room] = nil }
        self.costs.forget(room)
    }

    /// Judges the last window, if it is over, and slows rooms down or speeds them up.
    /// - Returns: the rooms whose pace has changed.
    package mutating func review(at now: Instant) -> [Identifier] {
        guard let verdict = self.verdict(at: now) else { return [] }
        self.costs.windowEnded(isOverloaded: !self.isIdle, at: now)
        defer { self.costs.windowBegins(isMetering: verdict != .calm || !self.isIdle) }
        let window = now.elapsed(since: exchange(&self.reviewedAt, with: now))
        if verdict == .late {
            self.lateWindows += 1
        } else if self.gauge.samples > 0 {
            self.lateWindows = 0
        }
        switch verdict {
        case .late:
            guard self.lateWindows >= Self.lateWindowsInARow, now >= self.slowedAt + Self.settling else { return [] }
            self.calmTime = .zero
            return self.slowDown(at: now)
        case .steady:
            return []
        case .calm:
            guard !self.isIdle else { return [] }
            self.calmTime = self.calmTime + window
            let haste = self.calm / Self.haste
            guard self.calmTime >= (self.costs.wereLight(for: haste, at: now) ? haste : self.patience) else {
                return []
            }
            self.calmTime = .zero
            return self.speedUp(at: now)
        }
    }

    /// What the last window showed, if it is over: the worse of previews and commits.
    private mutating func verdict(at now: Instant) -> LatenessGauge.Verdict? {
        guard let previews = self.gauge.verdict(at: now) else { return nil }
        let commits = self.commits.verdict(at: now, lateness: self.gauge.mean)
        self.arePreviewsLate = previews == .late
        let areCheap = !self.isIdle && self.costs.total <= self.floor
        return max(previews, areCheap ? min(commits, .steady) : commits)
    }

    /// What slow rooms may cost however slow commits are.
    private var floor: Int { self.isIdle ? 0 : self.costs.most / Self.cheapness }

    // MARK: Steps

    private mutating func slowDown(at now: Instant) -> [Identifier] {
        let total = self.costs.total
        guard let dearest = self.costs.byRoom.values.max(), total > 0 else { return [] }
        if self.isIdle { self.costs.overloadBegan() }
        self.slowedAt = now
        if let relapsed = self.takeBack(at: now) { return self.counted(relapsed) }
        let needed = min((total + 3) / 4, self.arePreviewsLate ? total : total - self.floor)
        var saved = 0
        var changed: Set<Identifier> = []
        for pace in Pace.allCases {
            guard let slower = pace.slower else { break }
            for (room, cost) in self.costs.byRoom where cost > dearest / 2 && self.pace(of: room) == pace {
                guard saved < needed else { return self.counted(changed) }
                guard changed.insert(room).inserted else { continue }
                self.slowed[room, default: Slowed(pace: slower, departedAt: now, cost: cost)].pace = slower
                self.slowed[room]?.cost = cost
                let rest = slower == .commitsOnly ? 0 : cost / slower.growth
                self.costs.expect(rest, of: room)
                saved += cost - rest
            }
        }
        return self.counted(changed)
    }

    /// Takes the last step up back if it was too much: that was enough before.
    private mutating func takeBack(at now: Instant) -> Set<Identifier>? {
        guard let attempt = exchange(&self.attempt, with: nil) else {
            if self.isIdle { self.patience = self.calm }
            return nil
        }
        guard now < attempt.at + Self.probation else {
            self.patience = self.calm
            return nil
        }
        self.patience = min(self.patience * 4, self.calm * Self.maxPatience)
        // Rooms that have lost their members meanwhile have no pace.
        let rooms = attempt.before.filter { self.costs.byRoom[$0.key] != nil }
        for (room, before) in rooms {
            self.slowed[room, default: before].pace = before.pace
        }
        return rooms.isEmpty ? nil : Set(rooms.keys)
    }

    private mutating func speedUp(at now: Instant) -> [Identifier] {
        let total = self.costs.total
        let allowed = max(total / 8, self.costs.most / 2 - total)
        var spent = 0
        var before: [Identifier: Slowed] = [:]
        // The step before was not too much, or it would be forgotten.
        if self.attempt != nil { self.patience = max(self.calm, self.patience / 2) }
        for pace in Pace.allCases.reversed() {
            guard let faster = pace.faster else { break }
            for (room, slowed) in self.slowed where slowed.pace == pace && before[room] == nil {
                let cost = pace == .commitsOnly ? slowed.cost : (self.costs.byRoom[room] ?? 0) * (pace.growth - 1)
                guard before.isEmpty || spent + cost <= allowed else { continue }
                spent += cost
                before[room] = slowed
                if faster == .full { self.slowed[room] = nil } else { self.slowed[room]?.pace = faster }
            }
        }
        self.attempt = Attempt(at: now, before: before)
        return self.counted(Set(before.keys))
    }

    private mutating func counted(_ changed: Set<Identifier>) -> [Identifier] {
        self.changes += UInt64(changed.count)
        return Array(changed)
    }
}

extension Instant {
    /// A room's first moment from half an interval on.
    fileprivate func next(_ room: Identifier, every interval: Nanoseconds) -> Instant {
        guard interval > .zero else { return self }
        let earliest = (self + interval / 2).nanoseconds
        let offset = interval.count / UInt64(Shard.count) * UInt64(Shard.of(room: room))
        let periods = (max(earliest, offset) - offset + interval.count - 1) / interval.count
        return Instant(nanoseconds: offset + periods * interval.count)
    }
}
