internal import Timing
internal import Wire

/// One room in memory: its feed, the joins and reads that wait for it, and how long it stays.
///
///     first join, interest or read ──► loading ──snapshot──► live ──last member left, a while later──► expendable
struct Room: Sendable {
    let shard: Int
    var feed: RoomFeed
    var joins: RoomJoins
    var reads = PendingReads()
    /// When it becomes expendable, if it stays idle.
    private var idleUntil: Instant?
    /// True when it is idle and not worth its memory.
    private(set) var isExpendable = false
    /// The batch of previews that it was last seen in.
    private var batch: UInt64 = 0

    init(name: Identifier, limits: FanoutLimits) {
        self.shard = Shard.of(room: name)
        self.feed = RoomFeed(name: name, limits: limits)
        self.joins = RoomJoins(of: name)
    }

    var name: Identifier { self.feed.name }
    var isLive: Bool { self.feed.stream.isLive }
    /// Roughly the bytes that it occupies; none for a slot that is free.
    var bytes: Int { self.name.isEmpty ? 0 : self.feed.footprint }

    var isIdle: Bool {
        self.feed.audience.isEmpty && self.joins.isEmpty && self.reads.isEmpty
    }

    /// A run of the room's previews begins in a batch.
    /// - Returns: true for the first one of each batch.
    mutating func runBegins(in batch: UInt64, at now: Instant) -> Bool {
        self.feed.rates.advance(to: now)
        return exchange(&self.batch, with: batch) != batch
    }

    /// All updates of the shard are proven to have been seen as of a moment; nil: one is missing.
    mutating func shardProven(at moment: Instant?) {
        self.joins.proven(at: self.isLive && !self.feed.stream.hasHole ? moment : nil)
    }

    // MARK: Time

    /// A join or a gateway arrives: the room stays until it is reviewed again.
    mutating func stay() { self.idleUntil = nil }

    /// Notes when the room became idle. One that was never used is expendable immediately.
    mutating func reviewIdle(at now: Instant, with services: inout RoomServices) {
        self.isExpendable = self.isIdle && self.feed.stream.seq == 0
        if !self.isIdle {
            self.idleUntil = nil
        } else if !self.isExpendable, self.idleUntil == nil {
            let deadline = now + services.limits.roomIdle
            self.idleUntil = deadline
            services.deadlines.set(.idle, for: self.name, at: deadline)
        }
    }

    /// A room that is still being loaded is reviewed when the load is answered.
    mutating func reviewIdleIfLive(at now: Instant, with services: inout RoomServices) {
        if self.isLive { self.reviewIdle(at: now, with: &services) }
    }

    /// A deadline that the room has set is due; it may mean nothing any more.
    mutating func deadlineReached(
        _ kind: RoomDeadlines.Kind, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        switch kind {
        case .joins: self.refuseExpiredJoins(at: now, with: &services, into: &actions)
        case .reads: self.refuseExpiredReads(at: now, with: &services, into: &actions)
        case .followers: self.answerReads(at: now, with: &services, into: &actions)
        case .proofs: self.advanceJoinsByProof(at: now, with: &services, into: &actions)
        case .members: self.feed.settleMembers(at: now, into: &actions)
        case .early: self.feed.dropExpiredPreviews(at: now, with: &services)
        case .idle: if let idleUntil, idleUntil <= now, self.isIdle { self.isExpendable = true }
        }
    }

    // MARK: The database

    mutating func updateReceived(
        _ update: Update, isShardBehind: Bool, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let hasMoved = self.feed.updateReceived(
            update, isShardBehind: isShardBehind, at: now, with: &services, into: &actions)
        guard hasMoved else { return }
        self.answerFollowers(at: now, with: &services, into: &actions)
    }

    /// The snapshot that the room waits for: the room is live.
    mutating func snapshotReceived(
        _ snapshot: RoomSnapshot, isShardBehind: Bool, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        self.feed.install(snapshot, isShardBehind: isShardBehind, at: now, with: &services, into: &actions)
        for gateway in self.feed.audience.catchUps.gateways {
            self.advanceCatchUp(of: gateway, at: now, with: &services, into: &actions)
        }
        self.advanceJoins(at: now, with: &services, into: &actions)
        self.answerReads(at: now, with: &services, into: &actions)
    }

    /// A question was answered, or failed; a snapshot comes by ``snapshotReceived``.
    mutating func databaseAnswered(
        _ reply: DatabaseReply, to purpose: OpenQuestions.RoomPurpose, tag: UInt64, at now: Instant,
        with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        switch purpose {
        case .load:
            guard self.feed.stream.awaitsLoad(tag) else { return }
            self.feed.stream.endLoad()
            services.questions.retry(.load, of: self.name, at: now + services.limits.retryDelay)
            self.reviewIdle(at: now, with: &services)
        case .catchUp(let gateway):
            guard self.feed.audience.catchUps.awaitsLog(tag, for: gateway) else { return }
            self.advanceCatchUp(of: gateway, rows: reply.rows ?? [], at: now, with: &services, into: &actions)
        case .replay(let join):
            services.joins[join]?.replay = .answered(reply.rows ?? [])
            self.advanceJoin(join, at: now, with: &services, into: &actions)
            self.reviewIdleIfLive(at: now, with: &services)
        case .claim(let join):
            self.joins.claimAnswered(reply, for: join, at: now, with: &services, into: &actions)
            self.advanceJoin(join, at: now, with: &services, into: &actions)
            self.reviewIdleIfLive(at: now, with: &services)
        }
    }

    /// Asks again what failed, if it is still wanted.
    mutating func retry(
        _ purpose: OpenQuestions.RoomPurpose, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        switch purpose {
        case .load: self.feed.load(with: &services, into: &actions)
        case .claim(let join):
            self.joins.claim(join, at: now, with: &services, into: &actions)
            self.reviewIdleIfLive(at: now, with: &services)
        case .catchUp, .replay: break
        }
    }

    // MARK: Gateways

    /// A gateway names its connections here and its position in the stream.
    /// - Parameter isNew: the room was not in memory: another fan-out served it until now.
    mutating func interestReceived(
        _ interest: RoomInterest, from gateway: GatewayID, isNew: Bool, at now: Instant,
        with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        if isNew { self.feed.movedHereAt = now }
        self.stay()
        self.joins.answeredElsewhere(interest, from: gateway, at: now, with: &services)
        self.feed.interestReceived(interest, from: gateway, at: now, with: &services, into: &actions)
        self.advanceCatchUp(of: gateway, at: now, with: &services, into: &actions)
    }

    /// A gateway asks another fan-out from now on. Its members stay in the room, so that nobody hears that they left: the
    /// other gateways follow.
    mutating func interestEnded(
        of gateway: GatewayID, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let connections = self.feed.audience.interestEnded(of: gateway)
        if !connections.isEmpty { self.feed.unsettleMembers(at: now, with: &services) }
        for connection in connections {
            self.depart(connection, isSilent: true, at: now, with: &services, into: &actions)
        }
        self.joins.gatewayMoved(gateway, with: &services)
        self.advanceJoins(at: now, with: &services, into: &actions)
    }

    /// The members that a gateway has not named again since its link went down leave.
    mutating func graceEnded(
        of gateway: GatewayID, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        let connections = self.feed.audience.connectionsInDoubt(of: gateway)
        self.feed.endGestures(of: connections, at: now, into: &actions)
        for connection in connections {
            self.depart(connection, at: now, with: &services, into: &actions)
        }
    }

    /// A connection leaves, and does not join any more.
    mutating func leaveReceived(
        _ leave: Leave, from gateway: GatewayID, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        self.joins.abandon(of: leave.connection, from: gateway, at: now, with: &services, into: &actions)
        self.depart(leave.connection, at: now, with: &services, into: &actions)
    }

    /// - Parameter isSilent: its user is still in the room, elsewhere.
    mutating func depart(
        _ connection: UInt64, isSilent: Bool = false, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        // Joins through a gateway wait until it has caught up, or need not any more.
        let isFreed = self.feed.audience.depart(connection, isSilent: isSilent, with: &services, into: &actions)
        if isFreed { self.advanceJoins(at: now, with: &services, into: &actions) }
        self.reviewIdleIfLive(at: now, with: &services)
    }

    private mutating func advanceCatchUp(
        of gateway: GatewayID, rows: [Update]? = nil, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        guard self.feed.advanceCatchUp(of: gateway, rows: rows, with: &services, into: &actions) else { return }
        self.advanceJoins(at: now, with: &services, into: &actions)
    }
}
