internal import Boot
internal import Logging
internal import Mesh
internal import Postgres
internal import Stages
internal import Synchronization
internal import Timing

/// Signals the committer's thread that the schema is up to date.
final class SchemaGate: Sendable {
    private let flag: Atomic<Bool>

    init(isOpen: Bool) {
        self.flag = Atomic(isOpen)
    }

    /// True once the schema is up to date.
    var isOpen: Bool { self.flag.load(ordering: .acquiring) }

    /// The schema is up to date.
    func open() {
        self.flag.store(true, ordering: .releasing)
    }
}

/// Migrates the schema, retrying until it is up to date, and from then on does the upkeep: partitions of the log, ended
/// sessions, the history. On a separate thread because all of it blocks.
enum UpkeepService {
    static func make(
        _ settings: CommitterSettings, _ context: DaemonContext, _ check: ReadinessCheck,
        whenMigrated: @escaping @Sendable () -> Void
    ) throws -> ReactorService {
        let migrator = settings.migrates ? try Migrator(migrations) : nil
        let telemetry = UpkeepTelemetry(context.metrics)
        let reactor = try Reactor(name: "upkeep", logger: context.logger) { thread in
            UpkeepLoop(migrator, settings, telemetry, thread.logger, check, whenMigrated)
        }
        return ReactorService(reactor)
    }
}

/// Each turn is one attempt to migrate, or one step of the upkeep. The thread has no links, so it may block.
private final class UpkeepLoop: ReactorLoop {
    private static let migrationPause = Nanoseconds.seconds(1)
    private static let failurePause = Nanoseconds.seconds(30)
    private static let roundPause = Nanoseconds.seconds(300)

    /// Nil once the schema is up to date.
    private var migrator: Migrator?
    private let databaseURL: String
    private let upkeep: Upkeep
    private let telemetry: UpkeepTelemetry
    private let logger: Logger
    private let check: ReadinessCheck
    private let whenMigrated: @Sendable () -> Void
    private var round: Upkeep.Round?
    private var nextRound = Instant.start

    init(
        _ migrator: Migrator?, _ settings: CommitterSettings, _ telemetry: UpkeepTelemetry, _ logger: Logger,
        _ check: ReadinessCheck, _ whenMigrated: @escaping @Sendable () -> Void
    ) {
        self.migrator = migrator
        self.databaseURL = settings.databaseURL
        self.upkeep = Upkeep(logDays: settings.logRetentionDays, sessionDays: settings.sessionRetentionDays)
        self.telemetry = telemetry
        self.logger = logger
        self.check = check
        self.whenMigrated = whenMigrated
    }

    func turn(at now: Instant) -> Instant? {
        if let migrator = self.migrator {
            if let pause = self.migrate(migrator) { return MonotonicClock.now() + pause }
            self.migrator = nil
            self.whenMigrated()
        }
        guard now >= self.nextRound else { return self.nextRound }
        do {
            let round = try self.round ?? self.upkeep.begin(self.databaseURL)
            self.round = round
            if let done = try round.step() {
                self.report(done)
                return now
            }
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
    private func migrate(_ migrator: Migrator) -> Nanoseconds? {
        do {
            let applied = try migrator.migrate(self.databaseURL)
            self.logger.info("schema is up to date", metadata: ["migrations.applied": "\(applied.count)"])
            return nil
        } catch MigrationError.unreleased {
            self.check.notReady("\(MigrationError.unreleased)")
            self.logger.error("database refused", metadata: ["error": "\(MigrationError.unreleased)"])
            return Self.failurePause
        } catch {
            self.check.notReady("the schema cannot be brought up to date")
            self.logger.warning("migration failed", metadata: ["error": "\(error)"])
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
}

/// The upkeep's metrics.
final class UpkeepTelemetry: Sendable {
    /// Partitions of the log that were created or dropped.
    let logSteps: Counter
    /// Sessions that ended because they were idle.
    let sessionsEnded: Counter
    /// Rounds that were not completed.
    let failures: Counter

    init(_ metrics: MetricsRegistry) {
        self.logSteps = metrics.counter(
            "touchsync_committer_upkeep_log_days_total", "Days of the log that were made or dropped.")
        self.sessionsEnded = metrics.counter(
            "touchsync_committer_upkeep_sessions_total", "Sessions that ended for want of use.")
        self.failures = metrics.counter(
            "touchsync_committer_upkeep_failures_total", "Rounds of upkeep that did not come to their end.")
    }
}
