package import Timing
package import Wire

/// The pace of each room: which rooms are slowed down when the gateway does not keep up, and when they are let go.
///
///     full ──late──► half ──late──► quarter ──late──► slow ──late──► commits only
///          ◄─calm──      ◄─calm───         ◄──calm──      ◄──calm───
///
/// Previews may be late (``LatenessGauge``), or commits beside them (``CommitGauge``). Slowing down is fast: with a late
/// window rooms that make a quarter of all deliveries go one step down, those that cost most first, until no window is
/// late. Thus many busy rooms are slowed before a quiet one is. Speeding up is slow: after a time of calm rooms go up by
/// a step that may cost a quarter more in all, the slowest first. The next time of calm is four times as long when that
/// was too much, half as long when it was not. When even at full pace the rooms would cost less than half of what was
/// too much, the load is gone: then nothing is tried, and steps up follow each other soon.
package struct RoomPaces: Sendable {
    private struct Slowed {
        var pace: Pace
        /// When its previews were delivered last, and when those of its members were last sent on.
        var departedAt: Instant
        var sentAt = Instant.start
        /// What it cost when it was slowed down.
        var cost: Int
    }

    /// Changes of a room's pace.
    package private(set) var changes: UInt64 = 0
    private var slowed: [Identifier: Slowed] = [:]
    /// Deliveries of each room, recent ones: halved with every window.
    private var costs: [Identifier: Int] = [:]
    /// True while costs are counted: not as long as all is well.
    private var isMetering = false
    /// How many windows the costs are of, those that count half as half ones: 1, 1.5, 1.75 … 2.
    private var meteredWindows = 0.0
    private var gauge: LatenessGauge
    private var commits = CommitGauge()
    /// What all rooms cost together when the gateway began to be late.
    private var limit = 0
    /// What all rooms would cost at full pace, at most, by the previews that come; recent ones, as costs.
    private var offered = 0
    /// Since when that is little.
    private var lightSince: Instant?
    /// How long it must be calm before rooms speed up, and since when it is.
    private var patience: Nanoseconds
    private var calmSince: Instant?
    /// When rooms were slowed down and sped up the last time.
    private var slowedAt = Instant.start
    private var spedUpAt: Instant?

    private let calm: Nanoseconds
    /// The longest time of calm that is waited for, as a multiple of the usual one.
    private static let maxPatience: UInt64 = 16
    /// The load gone, steps up follow each other in this part of the usual time of calm.
    private static let haste: UInt64 = 4
    /// How long a step down takes to show.
    private static let settling = Nanoseconds.milliseconds(250)
    /// Previews that cost less than this part of what was too much are not what commits wait for.
    private static let cheapness = 3
    /// A gateway that is late so soon after rooms sped up is late because they did.
    private static let probation = Nanoseconds.seconds(2)

    /// All rooms at full pace.
    /// - Parameters:
    ///   - late: previews that are later than this on average are too late.
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
    package func due(_ room: Identifier, at now: Instant) -> Instant {
        self.slowed[room].map { Self.due(after: $0.departedAt, $0.pace, at: now) } ?? now
    }

    /// When previews of a room's members that are there now may be sent on; `.never`: not at this pace.
    package func sendingDue(_ room: Identifier, at now: Instant) -> Instant {
        self.slowed[room].map { Self.due(after: $0.sentAt, $0.pace, at: now) } ?? now
    }

    private static func due(after last: Instant, _ pace: Pace, at now: Instant) -> Instant {
        pace.interval.map { max(now, last + $0) } ?? .never
    }

    /// A room's previews were delivered.
    /// - Parameters:
    ///   - deliveries: the previews, times the members that got them.
    ///   - lateness: how long after they might have been.
    package mutating func departed(_ room: Identifier, deliveries: Int, lateness: Nanoseconds, at now: Instant) {
        self.gauge.note(lateness)
        guard self.isMetering else { return }
        self.costs[room, default: 0] += deliveries
        self.slowed[room]?.departedAt = now
    }

    /// A preview came while rooms are slowed down.
    /// - Parameters:
    ///   - folded: how many of the app's are in it.
    ///   - members: how many will see it.
    package mutating func arrived(_ room: Identifier, folded: UInt32, members: Int) {
        self.offered += members * max(Int(folded), self.pace(of: room).span)
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
        if !self.costs.isEmpty { self.costs[room] = nil }
    }

    /// Judges the last window, if it is over, and slows rooms down or speeds them up.
    /// - Returns: the rooms whose pace has changed.
    package mutating func review(at now: Instant) -> [Identifier] {
        guard let verdict = self.verdict(at: now) else { return [] }
        defer { self.meter(verdict) }
        self.lightSince = self.offered < self.limit / 2 ? self.lightSince ?? now : nil
        switch verdict {
        case .late:
            self.calmSince = nil
            return now >= self.slowedAt + Self.settling ? self.slowDown(at: now) : []
        case .steady:
            self.calmSince = nil
            return []
        case .calm:
            guard !self.isIdle else { return [] }
            let since = self.calmSince ?? now
            self.calmSince = since
            let isLight = self.lightSince.map { now >= $0 + self.calm / Self.haste } ?? false
            guard now >= since + (isLight ? self.calm / Self.haste : self.patience) else { return [] }
            self.calmSince = now
            return self.speedUp(at: now)
        }
    }

    /// What the last window showed, if it is over: the worse of previews and commits.
    private mutating func verdict(at now: Instant) -> LatenessGauge.Verdict? {
        guard let previews = self.gauge.verdict(at: now) else { return nil }
        let commits = self.commits.verdict(at: now, lateness: self.gauge.mean)
        return max(previews, self.isCheap ? min(commits, .steady) : commits)
    }

    /// True when slow rooms cost so little that commits are late for another reason, for example a slow disk.
    private var isCheap: Bool { !self.isIdle && self.total < self.limit / Self.cheapness }

    /// What all rooms cost together.
    private var total: Int { self.costs.values.reduce(0, +) }

    /// Costs are counted from the first sign of lateness on, for as long as it matters.
    private mutating func meter(_ verdict: LatenessGauge.Verdict) {
        self.isMetering = verdict != .calm || !self.isIdle
        self.meteredWindows = self.isMetering ? self.meteredWindows / 2 + 1 : 0
        self.offered /= 2
        if self.isMetering {
            self.costs = self.costs.compactMapValues { $0 > 1 ? $0 / 2 : nil }
        } else {
            self.costs.removeAll()
        }
    }

    // MARK: Steps

    private mutating func slowDown(at now: Instant) -> [Identifier] {
        let total = self.total
        guard let most = self.costs.values.max(), total > 0 else { return [] }
        self.noteLimit(total, at: now)
        var saved = 0
        var changed: Set<Identifier> = []
        for pace in Pace.allCases {
            guard let slower = pace.slower else { break }
            for (room, cost) in self.costs where cost > most / 2 && self.pace(of: room) == pace {
                guard saved < (total + 3) / 4 else { return self.counted(changed) }
                guard changed.insert(room).inserted else { continue }
                self.slowed[room, default: Slowed(pace: slower, departedAt: now, cost: cost)].pace = slower
                self.slowed[room]?.cost = cost
                saved += slower == .commitsOnly ? cost : cost - cost / slower.growth
            }
        }
        return self.counted(changed)
    }

    /// Remembers what was too much, and whether it came of speeding up.
    private mutating func noteLimit(_ total: Int, at now: Instant) {
        // As it would be counted for long.
        let lasting = Int(Double(total) * 2 / self.meteredWindows)
        self.limit = self.isIdle ? lasting : max(self.limit, lasting)
        self.slowedAt = now
        guard let spedUpAt = self.spedUpAt else { return }
        self.spedUpAt = nil
        let isRelapse = now < spedUpAt + Self.probation
        self.patience = isRelapse ? min(self.patience * 4, self.calm * Self.maxPatience) : self.calm
    }

    private mutating func speedUp(at now: Instant) -> [Identifier] {
        let total = self.total
        let allowed = max(total / 4, self.limit / 2 - total)
        var spent = 0
        var changed: Set<Identifier> = []
        // The step before was not too much, or it would be forgotten.
        if self.spedUpAt != nil { self.patience = max(self.calm, self.patience / 2) }
        self.spedUpAt = now
        for pace in Pace.allCases.reversed() {
            guard let faster = pace.faster else { break }
            for (room, slowed) in self.slowed where slowed.pace == pace && !changed.contains(room) {
                let cost = pace == .commitsOnly ? slowed.cost : (self.costs[room] ?? 0) * (pace.growth - 1)
                guard changed.isEmpty || spent + cost <= allowed else { continue }
                spent += cost
                changed.insert(room)
                if faster == .full { self.slowed[room] = nil } else { self.slowed[room]?.pace = faster }
            }
        }
        return self.counted(changed)
    }

    private mutating func counted(_ changed: Set<Identifier>) -> [Identifier] {
        self.changes += UInt64(changed.count)
        return Array(changed)
    }
}
