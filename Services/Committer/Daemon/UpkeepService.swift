internal import Boot
internal import CommitterCore
internal import Logging
internal import Mesh
internal import Postgres
internal import ServiceLifecycle
internal import Stages
internal import Timing

/// Migrates the schema, or waits until it can see that it is up to date, and from then on does the upkeep: partitions of
/// the log, ended sessions, the history. On a separate thread because all of it blocks.
struct UpkeepService: Service {
    private let reactor: Reactor
    /// Ends with the error for which the daemon must not run.
    private let refusals: AsyncThrowingStream<Void, any Error>

    /// - Parameter whenCurrent: called once, when the schema is up to date.
    init(
        _ settings: CommitterSettings, _ context: DaemonContext, _ check: ReadinessCheck,
        whenCurrent: @escaping @Sendable () -> Void
    ) throws {
        let schema = SchemaPreparation(migrator: try Migrator(migrations), migrates: settings.migrates)
        let telemetry = UpkeepTelemetry(context.metrics)
        let (refusals, refusal) = AsyncThrowingStream.makeStream(of: Void.self)
        self.refusals = refusals
        self.reactor = try Reactor(name: "upkeep", logger: context.logger) { thread in
            UpkeepLoop(schema, settings, telemetry, thread.logger, check, whenCurrent) { refusal.finish(throwing: $0) }
        }
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await ReactorService(self.reactor).run() }
            group.addTask { for try await _ in self.refusals {} }
            _ = try await group.next()
            group.cancelAll()
        }
    }
}

/// Each turn is one attempt to migrate, or one step of the upkeep. The thread has no links, so it may block.
private final class UpkeepLoop: ReactorLoop {
    private static let migrationPause = Nanoseconds.seconds(1)
    private static let failurePause = Nanoseconds.seconds(30)
    private static let roundPause = Nanoseconds.seconds(300)

    /// Nil once the schema is up to date.
    private var schema: SchemaPreparation?
    private let databaseURL: String
    private let upkeep: Upkeep
    private let telemetry: UpkeepTelemetry
    private let logger: Logger
    private let check: ReadinessCheck
    private let whenCurrent: @Sendable () -> Void
    private let refuse: @Sendable (any Error) -> Void
    private var round: Upkeep.Round?
    private var nextRound = Instant.start
    /// What the last complete round found; nil before the first one.
    private var findings: UpkeepFindings?

    init(
        _ schema: SchemaPreparation, _ settings: CommitterSettings, _ telemetry: UpkeepTelemetry, _ logger: Logger,
        _ check: ReadinessCheck, _ whenCurrent: @escaping @Sendable () -> Void,
        _ refuse: @escaping @Sendable (any Error) -> Void
    ) {
        self.schema = schema
        self.refuse = refuse
        self.databaseURL = settings.databaseURL
        self.upkeep = Upkeep(
            logDays: settings.commitLogRetentionDays, sessionDays: settings.sessionRetentionDays,
            userSessions: settings.limits.userSessions)
        self.telemetry = telemetry
        self.logger = logger
        self.check = check
        self.whenCurrent = whenCurrent
    }

    func turn(at now: Instant) -> Instant? {
        if let schema = self.schema {
            if let pause = self.prepare(schema) { return MonotonicClock.now() + pause }
            self.schema = nil
            self.whenCurrent()
        }
        guard now >= self.nextRound else { return self.nextRound }
        do {
            let round = try self.round ?? self.upkeep.begin(self.databaseURL)
            self.round = round
            if let done = try round.step() {
                self.report(done)
                return now
            }
            self.report(round.findings)
            self.nextRound = MonotonicClock.now() + Self.roundPause
        } catch {
            self.telemetry.failures.add()
            self.logger.warning("upkeep failed", metadata: ["error": "\(error)"])
            self.nextRound = MonotonicClock.now() + Self.failurePause
        }
        self.round = nil
        return self.nextRound
    }

    /// Nil when the schema is up to date, else the delay before the next attempt.
    private func prepare(_ schema: SchemaPreparation) -> Nanoseconds? {
        do {
            let applied = try schema.attempt(self.databaseURL)
            self.logger.info("schema is up to date", metadata: ["migrations.applied": "\(applied)"])
            return nil
        } catch let error as OutdatedSchema {
            self.check.notReady("\(error)")
            self.refuse(error)
            return Self.failurePause
        } catch let error as MigrationError where error.isTooOld {
            self.check.notReady("\(error)")
            self.logger.error("database refused", metadata: ["error": "\(error)"])
            return Self.failurePause
        } catch {
            self.check.notReady(SchemaPreparation.note(on: error))
            self.logger.warning("the schema is not up to date", metadata: ["error": "\(error)"])
            return Self.migrationPause
        }
    }

    private func report(_ done: Upkeep.Done) {
        switch done {
        case .log(let what):
            self.telemetry.logSteps.add()
            self.logger.info("log kept", metadata: ["upkeep.step": "\(what)"])
        case .sessions(let count):
            self.telemetry.sessionsEnded.add(count)
            self.logger.info("sessions ended", metadata: ["upkeep.sessions": "\(count)"])
        case .history(let note) where note.verdict == .same || note.verdict == .first:
            break
        case .history(let note):
            self.logger.warning(
                "the database is on another history",
                metadata: ["history.verdict": "\(note.verdict)", "history.epoch": "\(note.epoch)"])
        }
    }

    private func report(_ findings: UpkeepFindings) {
        let lasting = findings.lasting(since: self.findings)
        self.findings = findings
        self.telemetry.missingDays.set(lasting.missingDays)
        if lasting.missingDays > 0 {
            self.logger.warning(
                "days of the log have no partition", metadata: ["upkeep.days": "\(lasting.missingDays)"])
        }
        if let other = lasting.otherUserSessions {
            self.telemetry.otherUserSessions.add()
            self.logger.warning(
                "another committer has another user-sessions",
                metadata: ["upkeep.own": "\(self.upkeep.userSessions)", "upkeep.other": "\(other)"])
        }
    }
}

final class UpkeepTelemetry: Sendable {
    let logSteps: Counter
    let sessionsEnded: Counter
    let missingDays: Gauge
    let otherUserSessions: Counter
    let failures: Counter

    init(_ metrics: MetricsRegistry) {
        self.logSteps = metrics.counter(
            "touchsync_committer_upkeep_log_partitions_total",
            "Partitions of the log, one for each day, that were made or dropped; steps of dropping rows without one.")
        self.sessionsEnded = metrics.counter(
            "touchsync_committer_upkeep_sessions_total", "Sessions that ended for want of use.")
        self.missingDays = metrics.gauge(
            "touchsync_committer_upkeep_missing_partitions",
            "Days among today and the next three for which two rounds of upkeep could not make a partition of the log.")
        self.otherUserSessions = metrics.counter(
            "touchsync_committer_upkeep_user_sessions_differing_total",
            "Rounds of upkeep that found another committer's user-sessions in force.")
        self.failures = metrics.counter(
            "touchsync_committer_upkeep_failures_total", "Rounds of upkeep that did not come to their end.")
    }
}
