internal import ArgumentParser
internal import Boot
internal import CommitterDaemon
internal import JSONBytes
internal import OperatorTerminal
internal import Postgres
internal import Stages

/// `touchsync migrate`.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings the database's tables up to date; safe to repeat and to run concurrently.",
        discussion: "Creates the database if it is missing and the role is allowed to.")

    @Option(help: "PostgreSQL connection string. Prefer DATABASE_URL: other users can read command lines for a moment.")
    var databaseUrl: String?
    @Option(help: "Role that daemons connect as: it gets the rights that they need, and no others. It must exist.")
    var runtimeRole: String?
    @Flag(help: "Print one line of JSON: created, applied, migrations (how many there are), roles.")
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
            let isCreated = try Migrator.ensureDatabase(given)
            if isCreated { self.say("created the database") }
            let applied = try Self.migrate(given, catalog.migrations)
            for migration in applied { self.say("applied \(migration.version) \(migration.name)") }
            if applied.isEmpty { self.say("nothing to do: \(catalog.migrations.count) migrations are applied") }
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

    /// A large log takes minutes.
    private static func migrate(_ database: String, _ migrations: [Migration]) throws -> [Migration] {
        let progress = ProgressLine()
        defer { progress.clear() }
        progress.set("waiting for the database")
        let last = migrations.last?.version ?? 0
        return try Migrator(migrations).migrate(database) { migration in
            progress.set("applying migration \(migration.version) of \(last), \(migration.name)")
        }
    }

    private static func report(_ isCreated: Bool, _ applied: [Migration], of count: Int, roles: [String]) {
        let text = JSONWriter.text { writer in
            writer.member("created", isCreated)
            writer.objects("applied", applied) { migration, writer in
                writer.member("version", migration.version)
                writer.member("name", migration.name)
            }
            writer.member("migrations", count)
            writer.member("roles", roles)
        }
        ProcessSetup.print(String(decoding: text, as: UTF8.self) + "\n")
    }
}
