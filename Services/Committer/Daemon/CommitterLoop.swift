internal import Boot
internal import CommitterCore
internal import Logging
internal import Mesh
internal import Postgres
internal import Stages
internal import Timing
internal import Trust
internal import Wire

/// The committer's turn on its thread: first the database's answers, then the arrived commits, then new requests,
/// results and updates.
final class CommitterLoop: ReactorLoop {
    private let thread: ReactorThread
    private let link: ServerLink
    private let fanouts: StageLinks
    private let lanes: [DatabaseLane]
    private let schema: SchemaGate
    private let rules: RulesInbox
    private let telemetry: CommitterTelemetry
    private let check: ReadinessCheck
    private let logger: Logger
    private var core: Committer
    private var results: GatewayResults
    private var updates = StageRoutes(.updates)
    private var publishedCount = 0
    private var notice: RulesNotice
    private var databaseGuard: DatabaseGuard
    private var restClock = RestClock()
    private var actions: [Committer.Action] = []
    private var batchColumns = BatchColumns()
    private var stateColumns = StateColumns()
    /// The request in flight on each lane.
    private var carried: [DatabaseLane.Request?]
    private var arrivals: [Instant] = []
    private var databaseLog = LogLimiter(every: .seconds(1))
    private var rejectLog = LogLimiter(every: .seconds(5))
    private let intake: EnvelopeIntake
    private var phase = ServicePhase.starting
    private var figures = FigurePace()

    init(
        on thread: ReactorThread, name: String, settings: CommitterSettings, sets: StageSets, schema: SchemaGate,
        rules: RulesInbox, telemetry: CommitterTelemetry, check: ReadinessCheck
    ) throws {
        self.thread = thread
        self.link = try ServerLink(
            on: thread, bind: Endpoint(settings.bind), identity: LinkIdentity(daemon: name, credit: settings.credit),
            options: .incoming(), admitting: PeerRoles(.gateway))
        self.link.isResting = true
        self.fanouts = try StageLinks(
            on: thread, to: sets[.fanout], identity: LinkIdentity(daemon: name), options: .outgoing())
        self.results = GatewayResults(window: settings.credit)
        var database = ConnectionSettings(connectionString: settings.databaseURL)
        database.applicationName = name
        // There is one server and few committers: no reason to wait long after it came back.
        database.backoffMaximum = .milliseconds(500)
        database.requestDeadline = settings.databaseDeadline
        // A server that is merely slow times out first, and then it is known that nothing was written.
        database.statementTimeout = settings.databaseDeadline * 4 / 5
        self.lanes = try (0..<settings.databaseConnections).map { _ in
            try DatabaseLane(on: thread, settings: database)
        }
        self.carried = Array(repeating: nil, count: settings.databaseConnections)
        let table = settings.rules.table
        self.core = Committer(lanes: settings.databaseConnections, rules: table, limits: settings.limits)
        self.notice = RulesNotice(fingerprint: table.fingerprint)
        self.rules = rules
        self.databaseGuard = DatabaseGuard(allowsUnsafe: settings.allowsUnsafeDatabase)
        self.schema = schema
        self.telemetry = telemetry
        self.check = check
        self.logger = thread.logger
        self.intake = EnvelopeIntake(
            at: .committer, logger: thread.logger, onForeign: telemetry.refusals.recordRefused
        ) { telemetry.envelopeMalformed() }
    }

    // MARK: The turn

    func turn(at now: Instant) -> Instant? {
        self.startDatabase(now)
        if let rules = self.rules.next() {
            self.core.rulesChanged(rules)
            self.notice = RulesNotice(fingerprint: rules.fingerprint)
            self.updates.outboxes.appendToAll(self.notice)
        }
        for (lane, connection) in self.lanes.enumerated() {
            connection.turn(at: now) { self.read($0, of: lane, now) }
        }
        self.rest(now)
        self.readFanouts()
        self.readSenders(now)
        if let due = self.core.nextDeadline, now >= due { self.core.timeReached(now, into: &self.actions) }
        self.core.dispatch(at: WallClock.exactMilliseconds(), into: &self.actions)
        self.perform(now)
        self.results.finish(self.core.drainFinished())
        self.results.outboxes.flush(at: now) { self.link.send($0.bytes, to: $1) }
        self.updates.outboxes.flush(at: now) { self.fanouts.send($0.bytes, to: $1) }
        self.observe(now)
        return self.deadline(now)
    }

    func stopRequested(at now: Instant) {
        self.phase = .draining
        self.logger.info("draining", metadata: ["committer.queued": "\(self.core.queuedCommits)"])
    }

    /// Pending work is finished, unless there is no database: none of it was acknowledged.
    var isDrained: Bool {
        (self.core.isIdle || self.core.connectedLanes == 0) && self.results.outboxes.isEmpty
            && self.updates.outboxes.isEmpty
    }

    func stopped() {
        self.logger.info("drained", metadata: ["committer.left": "\(self.core.queuedCommits)"])
        for lane in self.lanes { lane.close() }
    }

    /// Reports to senders that it rests while there is no database, and that it serves again as soon as there is.
    private func rest(_ now: Instant) {
        self.restClock.observe(connections: self.core.connectedLanes, at: now)
        let isResting = self.restClock.isResting(at: now)
        guard self.link.isResting != isResting else { return }
        self.link.isResting = isResting
        self.logger.notice(isResting ? "resting: no database" : "serving")
    }

    private func deadline(_ now: Instant) -> Instant? {
        var deadline = [self.core.nextDeadline, self.restClock.deadline(after: now)].compactMap(\.self).min()
        for lane in self.lanes {
            lane.poll()
            if let due = lane.nextDeadline { deadline = min(deadline ?? due, due) }
        }
        return deadline
    }

    /// Connections prepare statements that exist only after the schema is up to date.
    private func startDatabase(_ now: Instant) {
        guard self.phase == .starting, self.schema.isOpen else { return }
        self.phase = .running
        self.check.notReady("the database does not answer")
        for lane in self.lanes { lane.start(at: now) }
    }

    // MARK: Input

    private func readFanouts() {
        self.fanouts.read { event in
            self.updates.follow(event)
            // What waited for a link that accepts envelopes again may have been dropped.
            switch event {
            case .up(let fanout, _, _), .writable(let fanout): self.updates.outboxes.append(self.notice, to: fanout)
            case .added, .removed, .down, .resting, .envelope: break
            }
        }
    }

    private func readSenders(_ now: Instant) {
        while let event = self.link.next() {
            switch event {
            case .peerUp(let peer, let hello): self.results.linkUp(peer, name: hello.name)
            case .peerDown(let peer, _): self.results.linkDown(peer)
            case .writable(let peer): self.results.writable(peer)
            case .message(let peer):
                // Commits that arrive while the daemon drains are not read: their gateways turn to another committer.
                if self.phase != .draining { self.readCommits(of: peer, now) }
            }
        }
    }

    private func readCommits(of peer: PeerID, _ now: Instant) {
        let roles = self.link.roles(of: peer)
        self.link.incoming.withBytes(at: 0) { bytes in
            self.intake.walk(bytes, from: roles) { kind, fields throws(EnvelopeError) in
                guard kind == .commit else { return }
                let commit = try EnvelopeReader.decode(Commit.self, fields)
                guard commit.isOwned(by: roles, named: self.link.hello(of: peer)?.name) else {
                    return self.intake.refuse(kind, from: roles)
                }
                if let trace = commit.trace { self.logger.trace(TraceMark(trace, .received, commit)) }
                self.core.commitReceived(
                    commit, size: fields.remaining, source: peer.serial, at: now, into: &self.actions)
            }
        }
    }

    private func read(_ news: DatabaseLane.News, of lane: Int, _ now: Instant) {
        switch news {
        case .up(let facts): self.connected(lane, facts, now)
        case .down(let error):
            self.carried[lane] = nil
            self.core.connectionDown(lane: lane, at: now, into: &self.actions)
            if error.sqlState == .queryCanceled { self.renewIdleLanes(now) }
            // A rejected server has been logged already.
            if error.sqlState != .rejected { self.databaseFailed("database connection lost", error) }
        case .attemptFailed(let error):
            self.databaseFailed("database connection refused", error)
        case .rows(let rows): self.answered(lane, rows, now)
        case .failed(let error): self.failed(lane, error, now)
        }
    }

    /// A lane received nothing until its deadline. The connections of the others may be dead too, and would each cost
    /// the queued commits another deadline.
    private func renewIdleLanes(_ now: Instant) {
        for (lane, connection) in self.lanes.enumerated() where self.carried[lane] == nil {
            connection.renew("another connection fell silent", at: now)
            self.core.connectionDown(lane: lane, at: now, into: &self.actions)
        }
    }

    private func connected(_ lane: Int, _ facts: ServerFacts, _ now: Instant) {
        if let objection = self.databaseGuard.objection(to: facts) { return self.reject(lane, objection, now) }
        // A lane that came up first may be on the server that this one replaces.
        for former in self.lanes where former.server.map(self.databaseGuard.isFormer) ?? false {
            former.reject("the server was replaced by another one", at: now)
        }
        for problem in facts.durabilityProblems {
            self.logger.warning("acknowledged commits may be lost", metadata: ["reason": "\(problem)"])
        }
        // No other request may be sent before the history is known.
        self.submit(.noteHistory, HistoryNote.parameters(facts), lane, now)
    }

    private func historyNoted(_ lane: Int, _ rows: ResultRows, _ now: Instant) {
        guard let note = HistoryNote(rows) else { return self.reject(lane, "the history cannot be read", now) }
        if note.verdict == .behind { return self.reject(lane, "the server was replaced by another one", now) }
        if self.databaseGuard.isNew(note) {
            self.telemetry.historyChanged()
            self.logger.warning(
                "the database is on another history",
                metadata: ["history.verdict": "\(note.verdict)", "history.epoch": "\(note.epoch)"])
            self.core.historyChanged()
        }
        self.core.connectionUp(lane: lane)
        self.check.ready()
    }

    /// Rejects a server that must not get commits.
    private func reject(_ lane: Int, _ reason: String, _ now: Instant) {
        if self.core.connectedLanes == 0 { self.check.notReady(reason) }
        self.lanes[lane].reject(reason, at: now)
        guard let suppressed = self.rejectLog.admit(at: .now) else { return }
        self.logger.error("database not trusted", metadata: ["reason": "\(reason)", "log.suppressed": "\(suppressed)"])
    }

    private func databaseFailed(_ what: Logger.Message, _ error: PostgresError) {
        if self.core.connectedLanes == 0 { self.check.notReady("the database does not answer") }
        guard let suppressed = self.databaseLog.admit(at: .now) else { return }
        self.logger.warning(
            what,
            metadata: [
                "pg.sqlstate": "\(error.sqlState)", "error": "\(error.message)", "log.suppressed": "\(suppressed)",
            ])
    }

    private func answered(_ lane: Int, _ rows: ResultRows, _ now: Instant) {
        guard let request = self.carried[lane] else { return }
        self.carried[lane] = nil
        self.telemetry.answered(request, took: now.elapsed(since: self.lanes[lane].since))
        switch request {
        case .noteHistory:
            self.historyNoted(lane, rows, now)
        case .commitBatch:
            guard let isWritten = rows.bool(0, 0) else {
                return self.core.requestFailed(lane: lane, .lost, at: now, into: &self.actions)
            }
            self.core.batchWritten(lane: lane, isStale: !isWritten, at: now, into: &self.actions)
        case .loadState:
            do throws(PostgresError) {
                self.core.stateLoaded(lane: lane, try self.stateColumns.decode(rows), at: now)
            } catch {
                self.logger.error("state unreadable", metadata: ["error": "\(error.message)"])
                self.core.requestFailed(lane: lane, .data, at: now, into: &self.actions)
            }
        }
    }

    private func failed(_ lane: Int, _ error: PostgresError, _ now: Instant) {
        let request = self.carried[lane]
        self.carried[lane] = nil
        if request == .noteHistory { return self.reject(lane, "the history cannot be read: \(error.message)", now) }
        switch BatchFailure(error) {
        case .stale:
            self.core.batchWritten(lane: lane, isStale: true, at: now, into: &self.actions)
        case .other(let failure):
            self.databaseFailed("database request failed", error)
            self.core.requestFailed(lane: lane, failure, at: now, into: &self.actions)
        }
    }

    // MARK: Output

    private func perform(_ now: Instant) {
        // A request that a lane does not accept is an event, which may cause more actions.
        while !self.actions.isEmpty {
            let actions = self.actions
            self.actions = []
            for action in actions { self.perform(action, now) }
        }
    }

    private func perform(_ action: Committer.Action, _ now: Instant) {
        switch action {
        case .load(let lane, let request):
            self.submit(.loadState, self.stateColumns.encode(request), lane, now)
        case .write(let lane, let batch):
            self.telemetry.batchSent(batch)
            self.submit(.commitBatch, self.batchColumns.encode(batch), lane, now)
        case .result(let gateway, let result):
            self.results.append(result, to: gateway)
        case .publish(let update):
            self.publishedCount += 1
            self.updates.append(update, ofShard: Int(update.shard))
        case .traced(let mark): self.logger.trace(mark)
        }
    }

    private func submit(_ request: DatabaseLane.Request, _ parameters: Parameters, _ lane: Int, _ now: Instant) {
        guard self.lanes[lane].submit(request, parameters, at: now) else {
            return self.core.requestFailed(lane: lane, .transient, at: now, into: &self.actions)
        }
        self.carried[lane] = request
    }

    private func observe(_ now: Instant) {
        self.core.drainAnswered(into: &self.arrivals)
        self.telemetry.answered(self.arrivals, at: now)
        guard self.figures.isDue(at: now) else { return }
        self.telemetry.publish(self.core, at: now)
        self.telemetry.refusals.publish(self.thread)
        self.telemetry.publish(results: self.results.outboxes)
        self.telemetry.publish(
            updates: self.updates, published: self.publishedCount, reconnects: self.fanouts.reconnects)
    }
}
