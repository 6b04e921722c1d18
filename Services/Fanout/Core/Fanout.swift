package import Canvas
package import Timing
package import Wire

/// The core of a fan-out: every room that has members, in memory and in step with the database.
///
///     gateways ──join, leave, interest, gesture end, read──►┌────────┐──replies, updates, previews, presence──► gateways
///     committers ──updates─────────────────────────────────►│ Fanout │
///     coalescers ──previews────────────────────────────────►└────────┘──questions──► database ──answers──►
///
/// A room (``Room``) is loaded in one snapshot, then follows its updates, which have contiguous numbers. For each
/// shard with such rooms a cursor over the shard's own numbers (``ShardStreams``) proves that no update was missed;
/// missing ones are read from the log. This type leads every event to its room or shard, and what concerns a shard to
/// all its rooms. Every action is appended to a buffer of the caller, and the actions for one gateway are one
/// ordered stream: a reply stands exactly where its snapshot belongs.
///
/// The caller calls ``timeReached(_:into:)`` at ``nextDeadline`` and answers every question once.
package struct Fanout: Sendable {
    package internal(set) var rooms: RoomTable
    var shards: ShardStreams
    var historyReads = HistoryReads()
    var services: RoomServices
    private var batch = PreviewBatch()

    package init(limits: FanoutLimits = FanoutLimits(), rules: RulesTable = .defaults) {
        self.rooms = RoomTable(limits: limits)
        self.shards = ShardStreams(limits: limits)
        self.services = RoomServices(limits: limits, rules: rules)
    }

    var limits: FanoutLimits { self.services.limits }

    // MARK: Figures

    package var counters: FanoutCounters { self.services.counters }
    /// How many joins and reads of rooms wait.
    package var waitingCount: Int { self.services.joins.count + self.rooms.readCount }
    package var historyReadCount: Int { self.historyReads.count }
    /// How far the shard that is furthest behind is behind, in updates.
    package var lag: UInt64 { self.shards.lag }

    // MARK: Time

    /// When ``timeReached(_:into:)`` is due next; nil: nothing waits for the clock.
    package var nextDeadline: Instant? {
        // Asked in every turn: nothing here goes through all shards or rooms.
        let next = min(
            min(self.shards.nextPoll, self.shards.nextLogRead, self.services.gateways.nextDeadline),
            min(self.services.deadlines.next, self.services.questions.nextRetry))
        return next == .never ? nil : next
    }

    /// Does what is due.
    package mutating func timeReached(_ now: Instant, into actions: inout [FanoutAction]) {
        if self.shards.nextPoll <= now { self.poll(at: now, into: &actions) }
        while let due = self.services.deadlines.popDue(at: now) {
            guard let slot = self.rooms.slot(of: due.room) else { continue }
            if due.kind == .proofs { self.rooms[slot].shardProven(at: self.shards.provenAt(self.rooms[slot].shard)) }
            self.handle(in: slot) { $0.deadlineReached(due.kind, at: now, with: &$1, into: &actions) }
        }
        while let retry = self.services.questions.popRetry(at: now) {
            guard let slot = self.rooms.slot(of: retry.room) else { continue }
            self.handle(in: slot) { $0.retry(retry.purpose, at: now, with: &$1, into: &actions) }
        }
        for shard in self.shards.popLogReads(at: now) { self.readLog(of: shard, into: &actions) }
        for gateway in self.services.gateways.endGraces(at: now) {
            self.graceEnded(of: gateway, at: now, into: &actions)
        }
        self.rooms.removeExpiredFences(at: now)
    }

    // MARK: Previews

    /// Previews came from coalescers. Those that pass leave grouped by room.
    package mutating func previewsReceived(_ previews: [Preview], at now: Instant, into actions: inout [FanoutAction]) {
        self.services.counters.previews += previews.count
        self.batch.arrange(previews, at: now, in: &self.rooms)
        for entry in self.batch.entries {
            guard let slot = entry.slot else {
                self.services.counters.drop(.room)
                continue
            }
            self.rooms[slot].feed.previewReceived(previews[entry.index], at: now, with: &self.services, into: &actions)
        }
    }

    /// Other rules are in force, for previews and answers to joins from now on.
    package mutating func rulesChanged(_ rules: RulesTable) {
        self.services.rules = rules
    }

    // MARK: Rooms in memory

    /// The slot of the room for which a join waits.
    func slot(ofJoin tag: UInt64) -> Int? {
        self.services.joins[tag].flatMap { self.rooms.slot(of: $0.join.room) }
    }

    /// Lets a room handle an event, and closes it if it has become expendable.
    mutating func handle(in slot: Int, _ event: (inout Room, inout RoomServices) -> Void) {
        event(&self.rooms[slot], &self.services)
        self.rooms.closeIfExpendable(slot, releasing: &self.shards)
    }

    /// The slot of a room, which is loaded if it is not in memory; nil when no more rooms may be loaded.
    mutating func open(_ name: Identifier, into actions: inout [FanoutAction]) -> Int? {
        if let slot = self.rooms.slot(of: name) { return slot }
        guard let slot = self.rooms.open(name) else { return nil }
        self.rooms[slot].feed.load(with: &self.services, into: &actions)
        return slot
    }
}

/// The previews of one turn in the order in which they are judged: in that of their arrival, those of one room
/// together. Kept from batch to batch for its storage.
struct PreviewBatch: Sendable {
    /// The previews' indices with their rooms' slots, nil for rooms that are not in memory.
    private(set) var entries: [(slot: Int?, index: Int)] = []
    private var number: UInt64 = 0

    /// Brings a batch into order.
    mutating func arrange(_ previews: [Preview], at now: Instant, in rooms: inout RoomTable) {
        self.number &+= 1
        self.entries.removeAll(keepingCapacity: true)
        var isGrouped = true
        var slot: Int?
        for index in previews.indices {
            if index == 0 || previews[index].room != previews[index - 1].room {
                slot = rooms.slot(of: previews[index].room)
                if let slot, !rooms[slot].runBegins(in: self.number, at: now) { isGrouped = false }
            }
            self.entries.append((slot, index))
        }
        if !isGrouped { self.entries.sort { ($0.slot ?? -1, $0.index) < ($1.slot ?? -1, $1.index) } }
    }
}

/// Why a preview went nowhere.
package enum PreviewDrop: String, CaseIterable, Sendable {
    case room = "no_room"
    case element = "no_element"
    case locked
    /// The element's place is not on the canvas, where the gesture has its pivot.
    case place = "no_place"
    /// So many other sessions move the element that nothing is remembered of further ones.
    case crowded
    case closed
    /// A newer connection owns its session.
    case superseded
    /// The update that it must follow did not come in time, or too many waited.
    case waited
    /// It sets nothing.
    case empty
}

/// What a fan-out did, each since the start. The metrics that are made of them say what they count.
package struct FanoutCounters: Equatable, Sendable {
    package var updates = 0, duplicates = 0
    package var previews = 0, previewsPassed = 0, previewsParked = 0
    package internal(set) var previewsDropped: [PreviewDrop: Int] = [:]
    package var awareness = 0, awarenessDropped = 0
    package var signals = 0, signalsRefused = 0
    package var gaps = 0, strays = 0
    /// Shards whose rooms were loaded again, because the log could not help or rows were lost.
    package var rebases = 0
    package var replacements = 0
    package var loads = 0, snapshots = 0, replays = 0, resets = 0, refusals = 0

    mutating func drop(_ reason: PreviewDrop, _ count: Int = 1) {
        self.previewsDropped[reason, default: 0] += count
    }
}
