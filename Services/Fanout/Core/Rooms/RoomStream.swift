internal import DequeModule
internal import Timing
internal import Wire

/// The numbered updates of one room: the last one, the recent ones, and those that came too early.
///
///     loading ──snapshot──► live, updates one by one ──loadAsked──► live and loading ──snapshot──► live
///
/// While the room is loading, or an update is missing, later ones are kept: nothing falls between snapshot and stream.
struct RoomStream: Sendable {
    enum Offer: Equatable, Sendable {
        case next
        case duplicate
        case kept
        /// Too many wait; the room must be loaded again.
        case overflow
    }

    /// What a snapshot is to the stream.
    enum Installation: Equatable, Sendable {
        /// Nothing new: the stream is there already, or further.
        case passed
        /// The first one: the stream begins.
        case began
        /// The stream skipped updates that can only be in the log.
        case jumped
        /// The room is back in an older history, or in another.
        case lost
    }

    /// False until the first snapshot.
    private(set) var isLive = false
    /// The last update that was applied; 0: none ever.
    private(set) var seq: UInt64 = 0
    private var recent = UpdateRing()
    /// Updates that cannot be applied yet, by seq.
    private var kept: [UInt64: Update] = [:]
    private var loadTag: UInt64?
    /// What was kept when that load was asked for. The database had it by then, if it is of this history.
    private var keptAtLoad: Set<UInt64> = []
    /// Where the stream was when that load was asked for; a snapshot that is older shows that history was lost.
    private var seqAtLoad: UInt64 = 0
    /// The next snapshot is of another history, whatever its number.
    private var isNewHistory = false
    /// An update was offered since that load was asked for: the snapshot may lack it.
    private var wasOfferedSince = false
    /// An update was dropped, and the snapshot does not have it for sure: the load under way is not enough.
    private(set) var needsLoad = false

    /// Roughly the bytes of the recent updates.
    var recentBytes: Int { self.recent.bytes }
    var isLoading: Bool { self.loadTag != nil }
    /// True when it is live and later updates wait for a missing one.
    var hasHole: Bool { self.isLive && !self.kept.isEmpty }

    // MARK: Loads

    func awaitsLoad(_ tag: UInt64) -> Bool { self.loadTag == tag }

    mutating func loadAsked(_ tag: UInt64) {
        self.loadTag = tag
        self.seqAtLoad = self.seq
        self.keptAtLoad = Set(self.kept.keys)
        self.wasOfferedSince = false
        self.needsLoad = false
    }

    /// The load under way failed, or its answer means nothing any more. Returns its tag.
    @discardableResult
    mutating func endLoad() -> UInt64? { exchange(&self.loadTag, with: nil) }

    /// What is in memory is of a history that was replaced.
    mutating func historyReplaced() { self.isNewHistory = true }

    /// Goes on from a snapshot made at `seq`, unless the stream is further already.
    mutating func install(snapshotAt seq: UInt64) -> Installation {
        let wasLive = self.isLive
        let isLost = wasLive && (self.isNewHistory || seq < self.seqAtLoad)
        self.loadTag = nil
        self.isLive = true
        self.isNewHistory = false
        self.dropStrays(missingFrom: seq)
        if wasLive, !isLost, seq <= self.seq { return .passed }
        if wasLive { self.recent.removeAll() }
        self.seq = seq
        if isLost {
            // What came meanwhile was of either history, and was judged by the numbers of the former one.
            self.needsLoad = self.needsLoad || self.wasOfferedSince
            self.kept.removeAll()
            return .lost
        }
        for early in self.kept.keys where early <= seq { self.kept.removeValue(forKey: early) }
        return wasLive ? .jumped : .began
    }

    /// What was kept before a snapshot was asked for and is not in it never will be: it is of a former primary.
    private mutating func dropStrays(missingFrom seq: UInt64) {
        let strays = self.keptAtLoad.filter { $0 > seq && self.kept.removeValue(forKey: $0) != nil }
        self.keptAtLoad.removeAll()
        // One with such a number may have come meanwhile, and counted as its duplicate.
        if !strays.isEmpty { self.needsLoad = self.needsLoad || self.wasOfferedSince }
    }

    // MARK: Updates

    /// Looks where an update belongs, and keeps it if it came too early.
    mutating func offer(_ update: Update, limits: FanoutLimits) -> Offer {
        self.wasOfferedSince = true
        if self.isLive {
            if update.seq <= self.seq { return .duplicate }
            if update.seq == self.seq + 1 { return .next }
        }
        if self.kept[update.seq] != nil { return .duplicate }
        guard self.kept.count < limits.keptUpdates else {
            self.needsLoad = true
            return .overflow
        }
        self.kept[update.seq] = update
        return .kept
    }

    /// Moves over the next update.
    mutating func advance(over update: Update, at now: Instant, limits: FanoutLimits) {
        self.seq = update.seq
        self.recent.append(update, at: now, maxCount: limits.replay, maxBytes: limits.ringBytes)
    }

    /// The kept update that is now the next one.
    mutating func dequeueNext() -> Update? {
        guard self.hasHole else { return nil }
        return self.kept.removeValue(forKey: self.seq + 1)
    }

    // MARK: What was missed

    /// The updates after `seq` up to now, from the recent ones alone or with rows of the log before them; nil when
    /// they are not complete or too many.
    func missed(after seq: UInt64, rows: [Update], limits: FanoutLimits) -> [Update]? {
        guard self.isReplayable(after: seq, limits: limits) else { return nil }
        if seq == self.seq { return [] }
        var next = seq + 1
        var updates = self.recent.suffix(from: next) ?? []
        if updates.isEmpty {
            for row in rows where row.seq >= next && row.seq <= self.seq {
                guard row.seq == next else { return nil }
                updates.append(row)
                next += 1
            }
            if next <= self.seq {
                guard let recent = self.recent.suffix(from: next) else { return nil }
                updates += recent
            }
        }
        return updates.reduce(0) { $0 + $1.footprint } <= limits.replyBytes ? updates : nil
    }

    /// True when what was missed after `seq` is not too much, and the log may have it.
    func isReplayable(after seq: UInt64, limits: FanoutLimits) -> Bool {
        seq <= self.seq && self.seq - seq <= UInt64(limits.replay)
    }

    mutating func releaseRecent() { self.recent.removeAll() }

    /// The last updates that are in memory, the oldest first.
    func latest(_ count: Int) -> [RoomReport.Entry] {
        self.recent.latest(count).map { update, arrivedAt in
            RoomReport.Entry(
                seq: update.seq, event: update.event, user: update.user, elements: update.entries.count,
                arrivedAt: arrivedAt)
        }
    }
}

/// A room's last updates without a gap, bounded in number and bytes; the oldest go first.
struct UpdateRing: Sendable {
    private var updates: Deque<(update: Update, arrivedAt: Instant)> = []
    /// Roughly the bytes of the updates in it.
    private(set) var bytes = 0

    /// Adds the next update and lets old ones go.
    mutating func append(_ update: Update, at now: Instant, maxCount: Int, maxBytes: Int) {
        if let last = self.updates.last?.update, last.seq + 1 != update.seq { self.removeAll() }
        self.updates.append((update, now))
        self.bytes += update.footprint
        while self.updates.count > maxCount || (self.bytes > maxBytes && self.updates.count > 1) {
            self.bytes -= self.updates.removeFirst().update.footprint
        }
    }

    mutating func removeAll() {
        self.updates.removeAll()
        self.bytes = 0
    }

    /// The updates from `seq` on; nil when they are not all there.
    func suffix(from seq: UInt64) -> [Update]? {
        guard let first = self.updates.first?.update.seq, first <= seq else { return nil }
        return self.updates.dropFirst(Int(clamping: seq - first)).map(\.update)
    }

    /// The last updates with the moments at which they arrived, the oldest first.
    func latest(_ count: Int) -> [(update: Update, arrivedAt: Instant)] { Array(self.updates.suffix(count)) }
}

extension Update {
    /// Roughly the bytes that it occupies in memory.
    var footprint: Int { 256 + self.bytes.count + self.entries.count * 96 }
}
