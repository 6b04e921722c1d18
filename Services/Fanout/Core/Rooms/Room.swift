internal import Timing
internal import Wire

/// One room in memory.
///
///     first join, interest or read ──► loading ──snapshot──► live ──last member left, a while later──► expendable
///
/// It applies its updates one by one, answers joins and reads, brings gateways up to date and judges previews. What it
/// sends goes to the caller's actions, in the order in which gateways must see it.
struct Room: Sendable {
    let name: Identifier
    let shard: Int
    var stream = RoomStream()
    var elements = ElementStore()
    var occupancy = Occupancy()
    var catchUps = CatchUps()
    var owners = SessionOwners()
    var park: PreviewPark
    /// Joins that wait, in the order in which they came, by tag.
    var joins: [UInt64] = []
    var reads = PendingReads()
    /// When it becomes expendable, if nobody comes before.
    var idleUntil: Instant?
    /// True when nobody needs it and it is not worth its memory. Reviewed after whatever may change that.
    private(set) var isExpendable = false
    /// When it was taken over from another fan-out: for a while after that gateways still name members whom everybody
    /// knows, and gestures may be open that were never seen here.
    var takenOverAt: Instant?
    /// What it takes, bytes, when it was last counted.
    private(set) var countedBytes = 0
    /// The batch of previews that it was last seen in.
    private var batch: UInt64 = 0

    init(name: Identifier, limits: FanoutLimits) {
        self.name = name
        self.shard = Shard.of(room: name)
        self.park = PreviewPark(capacity: limits.parkedPreviews)
    }

    /// True when nobody needs it.
    var isIdle: Bool {
        self.occupancy.isEmpty && self.joins.isEmpty && self.reads.isEmpty
    }

    /// True when it was taken over less than `span` ago.
    func isTakenOver(within span: Nanoseconds, at now: Instant) -> Bool {
        guard let takenOverAt = self.takenOverAt else { return false }
        return now < takenOverAt + span
    }

    /// True once for each batch of previews.
    mutating func isFirstRun(in batch: UInt64) -> Bool {
        exchange(&self.batch, with: batch) != batch
    }

    // MARK: Memory

    /// Counts roughly what it takes.
    mutating func recount() {
        self.countedBytes =
            512 + self.elements.footprint + self.stream.recentBytes + self.occupancy.connectionCount * 256
    }

    /// Releases what only saves work.
    mutating func releaseCaches() {
        self.stream.releaseRecent()
        self.elements.releaseSnapshot()
        self.recount()
    }

    // MARK: Deadlines

    /// Notes since when nobody needs the room. One that was never used is expendable immediately.
    mutating func reviewIdle(at now: Instant, with services: inout RoomServices) {
        self.isExpendable = self.isIdle && self.stream.seq == 0
        if !self.isIdle {
            self.idleUntil = nil
        } else if !self.isExpendable, self.idleUntil == nil {
            let deadline = now + services.limits.roomIdle
            self.idleUntil = deadline
            services.deadlines.set(.idle, for: self.name, at: deadline)
        }
    }

    /// A deadline that the room has set is due; it may mean nothing any more.
    mutating func deadlineReached(
        _ kind: RoomDeadlines.Kind, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        switch kind {
        case .reads: self.refuseExpiredReads(at: now, with: &services, into: &actions)
        case .followers: self.answerFollowers(at: now, with: &services, into: &actions)
        case .parked: self.dropExpiredPreviews(at: now, with: &services)
        case .idle: if let idleUntil, idleUntil <= now, self.isIdle { self.isExpendable = true }
        }
    }

    // MARK: Answers of the database

    /// A question was answered, or failed; a snapshot comes by ``snapshotReceived``.
    mutating func answered(
        _ purpose: OpenQuestions.RoomPurpose, tag: UInt64, _ reply: DatabaseReply, at now: Instant,
        with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        switch purpose {
        case .load:
            guard self.stream.awaitsLoad(tag) else { return }
            self.stream.endLoad()
            services.questions.retry(.load, of: self.name, at: now + services.limits.retryDelay)
            self.reviewIdle(at: now, with: &services)
        case .catchUp(let gateway):
            guard self.catchUps.awaitsLog(tag, for: gateway) else { return }
            self.advanceCatchUp(of: gateway, rows: reply.rows ?? [], at: now, with: &services, into: &actions)
        case .replay(let join):
            guard services.joins[join] != nil else { return }
            services.joins[join]?.replay = .answered(reply.rows ?? [])
            self.advanceJoin(join, at: now, with: &services, into: &actions)
            if self.stream.isLive { self.reviewIdle(at: now, with: &services) }
        case .claim(let join):
            self.claimAnswered(reply, for: join, at: now, with: &services, into: &actions)
        }
    }

    /// Asks again what failed, if it is still wanted.
    mutating func retry(
        _ purpose: OpenQuestions.RoomPurpose, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        switch purpose {
        case .load: self.load(with: &services, into: &actions)
        case .claim(let join): self.claim(join, with: &services, into: &actions)
        case .catchUp, .replay: break
        }
    }
}
