internal import ArgumentParser

/// `touchsync keep`, which `touchsync up` starts for itself.
struct KeepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep", abstract: "Stops a private PostgreSQL after the touchsync up that started it has ended.",
        shouldDisplay: false)

    @Option var data: String
    @Option var parentFd: Int32

    func run() throws {
        try TouchSyncCommand.running {
            try PostgresKeeper.keep(DataFolder(self.data), parent: self.parentFd)
            return 0
        }
    }
}
