internal import Boot
internal import Logging
internal import Mesh
internal import Postgres
internal import ServiceLifecycle
internal import Synchronization

/// Tells the committer's thread that the schema stands.
final class SchemaGate: Sendable {
    private let flag: Atomic<Bool>

    init(isOpen: Bool) {
        self.flag = Atomic(isOpen)
    }

    /// True once the schema stands.
    var isOpen: Bool { self.flag.load(ordering: .acquiring) }

    /// The schema stands.
    func open() {
        self.flag.store(true, ordering: .releasing)
    }
}

/// Brings the schema up to date, on a thread of its own because that blocks, and tries until it is.
final class MigrationService: Service {
    private let reactor: Reactor

    init(
        _ settings: CommitterSettings, _ context: DaemonContext, _ check: ReadinessCheck,
        whenDone: @escaping @Sendable () -> Void
    ) throws {
        let migrator = try Migrator(migrations)
        self.reactor = try Reactor(name: "migrate", logger: context.logger) { thread in
            MigrationLoop(migrator, settings.databaseURL, thread.logger, check, whenDone)
        }
    }

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await self.reactor.run()
        } onGracefulShutdown: {
            self.reactor.stop()
        }
    }
}

/// One attempt a turn. The thread has no links, so it may block.
private final class MigrationLoop: ReactorLoop {
    private static let pause: UInt64 = 1_000_000_000

    private let migrator: Migrator
    private let databaseURL: String
    private let logger: Logger
    private let check: ReadinessCheck
    private let whenDone: @Sendable () -> Void
    private var isDone = false

    init(
        _ migrator: Migrator, _ databaseURL: String, _ logger: Logger, _ check: ReadinessCheck,
        _ whenDone: @escaping @Sendable () -> Void
    ) {
        self.migrator = migrator
        self.databaseURL = databaseURL
        self.logger = logger
        self.check = check
        self.whenDone = whenDone
    }

    func turn(now: UInt64) -> UInt64? {
        if self.isDone { return nil }
        do {
            let applied = try self.migrator.migrate(self.databaseURL)
            self.isDone = true
            self.logger.info("schema is up to date", metadata: ["migrations.applied": "\(applied.count)"])
            self.whenDone()
            return nil
        } catch {
            self.check.notReady("the schema cannot be brought up to date")
            self.logger.warning("migration failed", metadata: ["error": "\(error)"])
            return MonotonicClock.now() + Self.pause
        }
    }
}
