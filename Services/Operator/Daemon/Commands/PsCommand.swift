internal import ArgumentParser
internal import Boot

struct PsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ps", abstract: "Shows the processes of the pipeline that runs in a data folder.")

    @Option(help: "The data folder of touchsync up.")
    var data = ".touchsync"
    @Flag(help: "Print one line of JSON in the format of touchsync up --json.")
    var json = false
    @Flag(help: "Do not mask the password in the database's connection string; for scripts.")
    var showSecrets = false

    func run() throws {
        try TouchSyncCommand.running {
            let report = try PsCommand.report(DataFolder(self.data))
            ProcessSetup.print(self.json ? report.json(showsSecrets: self.showSecrets) : report.table)
            return 0
        }
    }

    /// What runs in a folder; throws when nothing does.
    static func report(_ folder: DataFolder) throws(OperatorFailure) -> PipelineReport {
        guard DataFolderLock.isHeld(folder) else {
            throw OperatorFailure(
                "no pipeline runs in \(folder.path); start one with touchsync up --data \(folder.path)")
        }
        guard case .success(let bytes) = FileBytes.read(folder.stateFile),
            case .success(let database) = FileBytes.read(folder.databaseFile),
            let report = PipelineReport(bytes, database: String(decoding: database, as: UTF8.self))
        else {
            throw OperatorFailure("the pipeline in \(folder.path) is still starting, or already stopping")
        }
        return report
    }
}
