internal import ArgumentParser
internal import Boot
internal import Stages

/// The operator's token for daemons that `touchsync up` has not started here.
enum GivenOperatorToken {
    /// The value of `--operator-token`, which was moved to the environment, or of the variable; nil without either.
    static var value: String? { ProcessSetup.environment()[SharedSettings.operatorToken.environmentVariable] }
}

/// The options by which a subcommand finds the daemons' settings.
struct SettingsOptions: ParsableArguments {
    @Option(help: "Settings file.")
    var config: String?
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("Settings of the daemon concerned, such as --jwt-issuer NAME.", valueName: "settings"))
    var settings: [String] = []

    /// The values that a stage's daemon would have with these flags, this file and this environment.
    /// - Throws: when a value is invalid or missing, except required settings that `up` would provide.
    func values(_ stage: Stage, catalog: StageCatalog = .installed) throws(OperatorFailure)
        -> SettingValues
    {
        let resolver = SettingsResolver(
            schema: catalog.schema(stage), arguments: (self.config.map { ["--config", $0] } ?? []) + self.settings,
            environment: ProcessSetup.environment())
        guard resolver.problems.isEmpty else {
            throw OperatorFailure(
                resolver.problems.map(\.description).joined(separator: "\n"),
                exitCode: DaemonMain.configurationExitCode)
        }
        return resolver.values
    }
}

/// The options by which a subcommand that works as an app does finds the server.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address at which apps connect, for a server that touchsync up has not started.", valueName: "url"))
    var url: String?
    @Option(help: "The data folder of touchsync up, whose first gateway is used when no address is given.")
    var data = ".touchsync"

    /// The server's address.
    /// - Throws: when none is given, and no pipeline runs in the folder.
    func address() throws(OperatorFailure) -> String {
        if let url { return url }
        do throws(OperatorFailure) {
            let report = try PsCommand.report(DataFolder(self.data))
            if let url = report.urls.first { return url }
            throw OperatorFailure("the pipeline in \(self.data) has no gateway")
        } catch {
            throw OperatorFailure("which server? give --url, or --data; \(error)")
        }
    }
}
