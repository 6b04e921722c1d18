internal import ArgumentParser
internal import Boot

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Checks this machine and a configuration, and suggests fixes.",
        discussion: "Exit code 0 when nothing fails (warnings are allowed), else 1.")

    @Option(help: "The data folder of touchsync up.")
    var data = ".touchsync"
    @Option(help: "Port of the first gateway.")
    var port = 8080
    @Option(help: "Number of gateways.")
    var gateways = 1
    @Option(help: "PostgreSQL connection string; by default DATABASE_URL or the settings file's.")
    var databaseUrl: String?
    @OptionGroup var settings: SettingsOptions
    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        try TouchSyncCommand.running {
            let doctor = Doctor(
                catalog: .installed, folder: DataFolder(self.data), port: self.port, gateways: self.gateways,
                configPath: self.settings.config, databaseURL: self.databaseUrl, extra: self.settings.settings)
            let findings = doctor.examine()
            ProcessSetup.print(self.json ? Finding.json(findings) : Finding.text(findings))
            return findings.contains { $0.grade == .fail } ? 1 : 0
        }
    }
}
