internal import ArgumentParser
internal import Boot
internal import CommitterDaemon
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
            if try Migrator.ensureDatabase(given) { ProcessSetup.print("created the database\n") }
            let applied = try Migrator(catalog.migrations).migrate(given)
            for migration in applied { ProcessSetup.print("applied \(migration.version) \(migration.name)\n") }
            if applied.isEmpty {
                ProcessSetup.print("nothing to do: \(catalog.migrations.count) migrations are applied\n")
            }
            if let role = self.runtimeRole { try RuntimeRole.grant(role, on: given) }
            // Also without the option: what a migration made needs rights, whoever applied it.
            for role in try RuntimeRole.renew(on: given) {
                ProcessSetup.print("the role \(role) has the rights of daemons\n")
            }
            return 0
        }
    }
}
