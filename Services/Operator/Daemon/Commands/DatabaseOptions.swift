internal import ArgumentParser
internal import Boot
internal import Postgres
internal import Stages

/// The options by which a subcommand finds the database.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "PostgreSQL connection string. Prefer DATABASE_URL: other users can read command lines for a moment.")
    var databaseUrl: String?
    @Option(help: "The data folder of touchsync up, whose database is used when no other is named.")
    var data = ".touchsync"
    @OptionGroup var settings: SettingsOptions

    /// A connection to the database, whose tables are up to date.
    func connect() throws -> BlockingConnection {
        let url = try self.url()
        let pending = try Migrator(StageCatalog.installed.migrations).pending(url)
        guard pending.isEmpty else {
            throw OperatorFailure("\(pending.count) migrations are not applied; run touchsync migrate")
        }
        return try BlockingConnection(url, applicationName: "touchsync-room")
    }

    private func url() throws(OperatorFailure) -> String {
        let configured = try self.settings.values(.committer)[SharedSettings.databaseURL]
        if let url = self.databaseUrl ?? configured { return url }
        do throws(OperatorFailure) {
            return try PsCommand.report(DataFolder(self.data)).database
        } catch {
            throw OperatorFailure(
                "which database? give --database-url, DATABASE_URL, or \"databaseUrl\" in a settings file; \(error)",
                exitCode: DaemonMain.configurationExitCode)
        }
    }
}
