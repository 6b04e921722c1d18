internal import ArgumentParser
internal import Boot
internal import CommitterDaemon
internal import Glibc
internal import JSONBytes
internal import OperatorTerminal
internal import Postgres
internal import Stages

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings the database's tables up to date; safe to repeat and to run concurrently.",
        discussion: "Creates the database if it is missing and the role is allowed to.")

    @Option(help: "PostgreSQL connection string. Prefer DATABASE_URL: other users can read command lines for a moment.")
    var databaseUrl: String?
    @Option(help: "Role that daemons connect as: it gets the rights that they need, and no others. It must exist.")
    var runtimeRole: String?
    @Flag(help: "Only say what would be applied, what that locks, and about for how long; nothing is changed.")
    var plan = false
    @Flag(help: "Print one line of JSON: created, applied, seconds, migrations (how many there are), roles.")
    var json = false
    @OptionGroup var settings: SettingsOptions

    func run() throws {
        try TouchSyncCommand.running {
            let catalog = StageCatalog.installed
            let values = try self.settings.values(.committer)
            let given = self.databaseUrl ?? values[SharedSettings.databaseURL]
            guard let given else {
                throw OperatorFailure(
                    "which database? give --database-url, DATABASE_URL, or \"databaseUrl\" in a settings file",
                    exitCode: DaemonMain.configurationExitCode)
            }
            if self.plan {
                let report = try PlanReport(of: given, catalog.migrations)
                ProcessSetup.print(self.json ? report.json : report.text)
                return 0
            }
            let isCreated = try Migrator.ensureDatabase(given)
            if isCreated { self.say("created the database") }
            let applied = try self.migrate(given, catalog.migrations)
            if applied.isEmpty {
                self.say("nothing to do: \(catalog.migrations.count) migrations are applied")
            } else {
                self.say("\(applied.count) applied in \(Quantities.span(Self.seconds(applied)))")
            }
            if let role = self.runtimeRole { try RuntimeRole.grant(role, on: given) }
            // Also without the option: what a migration made needs rights, whoever applied it.
            let roles = try RuntimeRole.renew(on: given)
            for role in roles { self.say("the role \(role) has the rights of daemons") }
            if self.json { Self.report(isCreated, applied, of: catalog.migrations.count, roles: roles) }
            return 0
        }
    }

    private func say(_ line: String) {
        if !self.json { ProcessSetup.print(line + "\n") }
    }

    /// A large log takes minutes: each migration is printed as soon as it is applied.
    private func migrate(_ database: String, _ migrations: [Migration]) throws -> [Applied] {
        let progress = ProgressLine()
        defer { progress.clear() }
        progress.set("waiting for the database")
        let last = migrations.last?.version ?? 0
        var applied: [Applied] = []
        try self.whenTablesAreFree {
            try Migrator(migrations).migrate(database) { migration in
                progress.set("applying migration \(migration.version) of \(last), \(migration.name)")
            } ends: { migration, time in
                progress.clear()
                let seconds = time / .seconds(1)
                self.say("applied \(migration.version) \(migration.name) in \(Quantities.span(seconds))")
                applied.append((migration, seconds))
            }
        }
        return applied
    }

    /// Tries until no transaction keeps a migration from its tables. Others get at them in each pause.
    private func whenTablesAreFree(_ attempt: () throws -> Void) throws {
        var isTold = false
        while true {
            do {
                return try attempt()
            } catch let error as MigrationError {
                guard case .tablesInUse = error else { throw error }
                if !isTold { ProcessSetup.complain("touchsync: \(error); it is tried again every few seconds\n") }
                isTold = true
                usleep(Self.pause)
            }
        }
    }

    /// For as long as a migration waits for a lock, microseconds.
    private static let pause = UInt32(Migrator.lockTimeout * 1000)

    /// A migration, and the seconds that it took.
    private typealias Applied = (migration: Migration, seconds: Double)

    private static func seconds(_ applied: [Applied]) -> Double { applied.reduce(0) { $0 + $1.seconds } }

    private static func report(_ isCreated: Bool, _ applied: [Applied], of count: Int, roles: [String]) {
        let line = JSONWriter.line { writer in
            writer.member("created", isCreated)
            writer.objects("applied", applied) { applied, writer in
                writer.member("version", applied.migration.version)
                writer.member("name", applied.migration.name)
                writer.member("seconds", applied.seconds)
            }
            writer.member("seconds", Self.seconds(applied))
            writer.member("migrations", count)
            writer.member("roles", roles)
        }
        ProcessSetup.print(line)
    }
}
