package import Canvas
internal import JSONBytes
package import Wire

/// What a fan-out daemon knows and decides.
///
///     gateways ──join, leave, interest, gesture end, read──►┌────────┐──replies, updates, previews, presence──► gateways
///     committers ──updates─────────────────────────────────►│ Fanout │
///     coalescers ──previews────────────────────────────────►└────────┘──questions──► database ──answers──►
///
/// Every room that has members is in memory: loaded in one snapshot, then followed by its updates, whose numbers must
/// be contiguous. For each shard with such rooms a cursor over the shard's own numbers proves that no update was
/// missed; what is missing is read from the log. Every action goes to a buffer of the caller, and the actions for one
/// gateway are one ordered stream: a reply stands exactly where its snapshot belongs.
///
/// The caller gives the time (ns, from any fixed point), calls ``timePassed(at:into:)`` when ``nextDeadline`` is
/// reached, and answers every question once.
package struct Fanout: Sendable {
    /// A gateway, up or lately gone.
    struct Gateway: Sendable {
        var isUp = true
        /// The rooms in which it has connections, by place.
        var rooms: Set<Int> = []
        /// When the people that it has not named again leave.
        var graceAt: UInt64?
    }

    /// One of the 64 shards.
    struct ShardState: Sendable {
        var cursor = ShardCursor()
        /// The rooms in memory, by place.
        var rooms: Set<Int> = []
        /// When the log is read if the hole is still there.
        var readAt: UInt64?
        var readTag: UInt64?
    }

    /// What an answer of the database is for.
    enum Purpose: Sendable {
        case heads
        case load(Identifier)
        case shardLog(Int, after: UInt64)
        case replay(join: UInt64)
        case catchUp(Identifier, GatewayID)
        case claim(join: UInt64)
        case moveEpoch
    }

    /// What is tried again later.
    enum Retry: Sendable {
        case load(Identifier)
        case claim(join: UInt64)
    }

    let limits: FanoutLimits
    let rules: RulesTable
    /// What it did so far.
    package internal(set) var counters = FanoutCounters()

    var epoch: Identifier?
    /// The epoch names a history that was seen to be replaced.
    var isEpochStale = false
    var isMovingEpoch = false
    var issuer: SessionIssuer?
    var places: [Identifier: Int] = [:]
    var rooms: [Room] = []
    var freePlaces: [Int] = []
    /// What all rooms take, roughly.
    package internal(set) var bytes = 0
    var gateways: [GatewayID: Gateway] = [:]
    var shards = [ShardState](repeating: ShardState(), count: Shard.count)
    /// No shard's log is to be read before; nil when none is.
    var readAt: UInt64?
    var joins: [UInt64: PendingJoin] = [:]
    var joinTags: [JoinKey: UInt64] = [:]
    var readCount = 0
    var requests: [UInt64: Purpose] = [:]
    var lastTag: UInt64 = 0
    var joinDeadlines = DeadlineQueue<UInt64>()
    var readDeadlines = DeadlineQueue<Identifier>()
    /// Rooms with joins or reads that wait for an update.
    var followDeadlines = DeadlineQueue<Identifier>()
    var idleDeadlines = DeadlineQueue<Identifier>()
    var parkDeadlines = DeadlineQueue<Identifier>()
    var retries = DeadlineQueue<Retry>()
    var pollAt: UInt64?
    var isPolling = false
    /// Where the cursors were when the heads were last asked for.
    var polledCursors: [UInt64?] = []
    var sweepAt: UInt64 = 0
    var batch: UInt64 = 0
    /// The previews of a batch with their rooms' places, in the order in which they are judged; kept for its storage.
    var order: [(place: Int, index: Int)] = []
    var document = JSONDocument()

    /// A fan-out that knows nothing yet.
    package init(limits: FanoutLimits = FanoutLimits(), rules: RulesTable = .defaults) {
        self.limits = limits
        self.rules = rules
    }

    /// How many connections are in a room, as far as this fan-out was told.
    package func connectionCount(in room: Identifier) -> Int {
        self.places[room].map { self.rooms[$0].occupancy.connectionCount } ?? 0
    }

    /// How many rooms are in memory.
    package var roomCount: Int { self.places.count }
    /// How many joins and reads wait.
    package var waitingCount: Int { self.joins.count + self.readCount }
    /// How far the shard that is furthest behind is behind, in updates.
    package var lag: UInt64 { self.shards.reduce(0) { max($0, $1.cursor.lag) } }
    /// How many questions to the database are open.
    package var openRequests: Int { self.requests.count }

    /// The database was reached: its history, and how sessions are signed. Nothing is asked of the database before.
    package mutating func identityKnown(
        epoch: Identifier, issuer: SessionIssuer, at now: UInt64, into actions: inout [FanoutAction]
    ) {
        self.issuer = issuer
        if self.epoch == nil {
            self.epoch = epoch
            self.pollAt = now
            self.sweepAt = now &+ self.limits.fenceAge / 4
            for place in self.places.values.sorted() { self.load(place, into: &actions) }
            for tag in self.joins.keys.sorted() { self.startSession(of: tag, at: now, into: &actions) }
        } else {
            self.historyIs(epoch, into: &actions)
        }
    }

    // MARK: Rooms in memory

    /// The place of a room, loaded if it is not there; nil when no more rooms may be loaded.
    mutating func open(_ name: Identifier, into actions: inout [FanoutAction]) -> Int? {
        if let place = self.places[name] { return place }
        guard self.places.count < self.limits.rooms, self.bytes < self.limits.memory else { return nil }
        let place: Int
        if let free = self.freePlaces.popLast() {
            place = free
            self.rooms[place] = Room(name: name, limits: self.limits)
        } else {
            place = self.rooms.count
            self.rooms.append(Room(name: name, limits: self.limits))
        }
        self.places[name] = place
        self.shards[self.rooms[place].shard].rooms.insert(place)
        self.load(place, into: &actions)
        return place
    }

    /// Asks for a room's snapshot, unless that is under way.
    mutating func load(_ place: Int, into actions: inout [FanoutAction]) {
        guard self.epoch != nil, self.rooms[place].loadTag == nil else { return }
        let name = self.rooms[place].name
        let tag = self.ask(.room(name), for: .load(name), into: &actions)
        self.rooms[place].loadTag = tag
        self.rooms[place].seqAtLoad = self.rooms[place].seq
        self.rooms[place].birthsAtLoad = self.shards[self.rooms[place].shard].cursor.births
        self.rooms[place].hasDropped = false
    }

    /// Notes when a room became idle, or drops it at once when there is nothing to keep.
    mutating func reviewIdle(_ place: Int, at now: UInt64) {
        guard self.rooms[place].isIdle else {
            self.rooms[place].dropAt = nil
            return
        }
        if self.rooms[place].seq == 0 {
            self.drop(place)
        } else if self.rooms[place].dropAt == nil {
            let deadline = now &+ self.limits.roomIdle
            self.rooms[place].dropAt = deadline
            self.idleDeadlines.set(self.rooms[place].name, at: deadline)
        }
    }

    mutating func drop(_ place: Int) {
        let shard = self.rooms[place].shard
        self.places.removeValue(forKey: self.rooms[place].name)
        self.bytes -= self.rooms[place].countedBytes
        self.shards[shard].rooms.remove(place)
        if self.shards[shard].rooms.isEmpty {
            self.shards[shard].cursor.forget()
            self.shards[shard].readAt = nil
        }
        self.rooms[place] = Room(name: "", limits: self.limits)
        self.freePlaces.append(place)
    }

    /// Counts a room's memory anew.
    mutating func account(_ place: Int) {
        let footprint = self.rooms[place].footprint
        self.bytes += footprint - self.rooms[place].countedBytes
        self.rooms[place].countedBytes = footprint
    }

    // MARK: Questions

    /// Puts a question and returns its tag.
    mutating func ask(
        _ query: DatabaseRequest.Query, for purpose: Purpose, into actions: inout [FanoutAction]
    ) -> UInt64 {
        self.lastTag += 1
        self.requests[self.lastTag] = purpose
        actions.append(.read(DatabaseRequest(tag: self.lastTag, query: query)))
        return self.lastTag
    }

    func position(of place: Int) -> Position {
        Position(epoch: self.epoch ?? "", seq: self.rooms[place].seq)
    }
}
