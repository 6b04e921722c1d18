internal import Boot
internal import CommitterCore
internal import Logging
internal import Mesh
internal import Postgres
internal import Stages
internal import Timing

/// The committer's lanes to PostgreSQL: it trusts a server only after its guard and the history of the database agree.
final class CommitterDatabase: StageDatabase {
    typealias Request = CommitterStage.Request
    typealias News = CommitterStage.News

    private let lanes: [DatabaseLane]
    private var databaseGuard: DatabaseGuard
    private let check: ReadinessCheck
    private let telemetry: CommitterTelemetry
    private let logger: Logger
    private var batchColumns = BatchColumns()
    private var stateColumns = StateColumns()
    /// The request in flight on each lane.
    private var carried: [DatabaseLane.Request?]
    /// Lanes whose server is trusted.
    private var trusted: Set<Int> = []
    private var troubleLog = LogLimiter(every: .seconds(1))
    private var rejectLog = LogLimiter(every: .seconds(5))

    init(
        on thread: ReactorThread, name: String, settings: CommitterSettings, check: ReadinessCheck,
        telemetry: CommitterTelemetry
    ) throws {
        var connection = ConnectionSettings(connectionString: settings.databaseURL)
        connection.applicationName = name
        // There is one server and few committers: no reason to wait long after it came back.
        connection.backoffMaximum = .milliseconds(500)
        connection.requestDeadline = settings.databaseDeadline
        // A server that is merely slow times out first, and then it is known that nothing was written.
        connection.statementTimeout = settings.databaseDeadline * 4 / 5
        self.lanes = try (0..<settings.databaseConnections).map { _ in
            try DatabaseLane(on: thread, settings: connection)
        }
        self.carried = Array(repeating: nil, count: self.lanes.count)
        self.databaseGuard = DatabaseGuard(allowsUnsafe: settings.allowsUnsafeDatabase)
        self.check = check
        self.telemetry = telemetry
        self.logger = thread.logger
    }

    /// Connects. Connections prepare statements that exist only after the schema is up to date.
    func start(at now: Instant) {
        self.check.notReady("the database does not answer")
        for lane in self.lanes { lane.start(at: now) }
    }

    func close() {
        for lane in self.lanes { lane.close() }
    }

    func turn(at now: Instant, isWanted: (UInt64) -> Bool, _ act: (News) -> Void) {
        for (lane, connection) in self.lanes.enumerated() {
            connection.turn(at: now) { self.read($0, of: lane, now, act) }
        }
    }

    func ask(_ request: Request, at now: Instant) -> Bool {
        switch request {
        case .load(let lane, let load): return self.submit(.loadState, self.stateColumns.encode(load), lane, now)
        case .write(let lane, let batch):
            self.telemetry.batchSent(batch)
            return self.submit(.commitBatch, self.batchColumns.encode(batch), lane, now)
        }
    }

    func poll() -> Instant? {
        var next = Instant.never
        for lane in self.lanes {
            lane.poll()
            next = min(next, lane.nextDeadline ?? .never)
        }
        return next == .never ? nil : next
    }

    private func submit(
        _ request: DatabaseLane.Request, _ parameters: Parameters, _ lane: Int, _ now: Instant
    ) -> Bool {
        guard self.lanes[lane].submit(request, parameters, at: now) else { return false }
        self.carried[lane] = request
        return true
    }

    // MARK: Connections

    private func read(_ news: DatabaseLane.News, of lane: Int, _ now: Instant, _ act: (News) -> Void) {
        switch news {
        case .up(let facts): self.connected(lane, facts, now, act)
        case .down(let error):
            self.lost(lane, act)
            if error.sqlState == .queryCanceled { self.renewIdleLanes(now, act) }
            // A rejected server has been logged already.
            if error.sqlState != .rejected { self.troubled("database connection lost", error) }
        case .attemptFailed(let error): self.troubled("database connection refused", error)
        case .rows(let rows): self.answered(lane, rows, now, act)
        case .failed(let error): self.failed(lane, error, now, act)
        }
    }

    private func lost(_ lane: Int, _ act: (News) -> Void) {
        self.carried[lane] = nil
        self.trusted.remove(lane)
        act(.down(lane: lane))
    }

    /// A lane received nothing until its deadline. The connections of the others may be dead too, and would each cost
    /// the queued commits another deadline.
    private func renewIdleLanes(_ now: Instant, _ act: (News) -> Void) {
        for (lane, connection) in self.lanes.enumerated() where self.carried[lane] == nil {
            connection.renew("another connection fell silent", at: now)
            self.lost(lane, act)
        }
    }

    private func connected(_ lane: Int, _ facts: ServerFacts, _ now: Instant, _ act: (News) -> Void) {
        if let objection = self.databaseGuard.objection(to: facts) { return self.reject(lane, objection, now) }
        // A lane that came up first may be on the server that this one replaces.
        for former in self.lanes where former.server.map(self.databaseGuard.isFormer) ?? false {
            former.reject("the server was replaced by another one", at: now)
        }
        for problem in facts.durabilityProblems {
            self.logger.warning("acknowledged commits may be lost", metadata: ["reason": "\(problem)"])
        }
        // No other request may be sent before the history is known.
        if !self.submit(.noteHistory, HistoryNote.parameters(facts), lane, now) { self.lost(lane, act) }
    }

    private func historyNoted(_ lane: Int, _ rows: ResultRows, _ now: Instant, _ act: (News) -> Void) {
        guard let note = HistoryNote(rows) else { return self.reject(lane, "the history cannot be read", now) }
        if note.verdict == .behind { return self.reject(lane, "the server was replaced by another one", now) }
        let isNew = self.databaseGuard.isNew(note)
        if isNew {
            self.telemetry.historyChanged()
            self.logger.warning(
                "the database is on another history",
                metadata: ["history.verdict": "\(note.verdict)", "history.epoch": "\(note.epoch)"])
        }
        self.trusted.insert(lane)
        act(.up(lane: lane, isNewHistory: isNew))
        self.check.ready()
    }

    /// Rejects a server that must not get commits.
    private func reject(_ lane: Int, _ reason: String, _ now: Instant) {
        if self.trusted.isEmpty { self.check.notReady(reason) }
        self.lanes[lane].reject(reason, at: now)
        guard let suppressed = self.rejectLog.admit(at: .now) else { return }
        self.logger.error("database not trusted", metadata: ["reason": "\(reason)", "log.suppressed": "\(suppressed)"])
    }

    private func troubled(_ what: Logger.Message, _ error: PostgresError) {
        if self.trusted.isEmpty { self.check.notReady("the database does not answer") }
        guard let suppressed = self.troubleLog.admit(at: .now) else { return }
        self.logger.warning(
            what,
            metadata: [
                "pg.sqlstate": "\(error.sqlState)", "error": "\(error.message)", "log.suppressed": "\(suppressed)",
            ])
    }

    // MARK: Answers

    private func answered(_ lane: Int, _ rows: ResultRows, _ now: Instant, _ act: (News) -> Void) {
        guard let request = exchange(&self.carried[lane], with: nil) else { return }
        self.telemetry.answered(request, took: now.elapsed(since: self.lanes[lane].since))
        switch request {
        case .noteHistory: self.historyNoted(lane, rows, now, act)
        case .commitBatch:
            act(rows.bool(0, 0).map { .written(lane: lane, isStale: !$0) } ?? .failed(lane: lane, .lost))
        case .loadState:
            do throws(PostgresError) {
                act(.loaded(lane: lane, try self.stateColumns.decode(rows)))
            } catch {
                self.logger.error("state unreadable", metadata: ["error": "\(error.message)"])
                act(.failed(lane: lane, .data))
            }
        }
    }

    private func failed(_ lane: Int, _ error: PostgresError, _ now: Instant, _ act: (News) -> Void) {
        let request = exchange(&self.carried[lane], with: nil)
        if request == .noteHistory { return self.reject(lane, "the history cannot be read: \(error.message)", now) }
        switch BatchFailure(error) {
        case .stale: act(.written(lane: lane, isStale: true))
        case .other(let failure):
            self.troubled("database request failed", error)
            act(.failed(lane: lane, failure))
        }
    }
}
