internal import ArgumentParser
internal import Boot
internal import Glibc
internal import Postgres

/// A process that outlives `touchsync up` and stops its private PostgreSQL if `up` was killed. The server itself does
/// not monitor `up`, and a killed process cannot clean up.
final class PostgresKeeper {
    private let launcher: ProcessLauncher
    private let pid: Int32
    private let descriptors: [Int32]

    init(_ folder: DataFolder, command: String) throws(OperatorFailure) {
        self.launcher = try ProcessLauncher()
        let plan = ProcessPlan(
            executable: command,
            arguments: [
                "keep", "--data", folder.path, "--parent-fd", "\(ProcessLauncher.parentDescriptor)",
            ],
            environment: ProcessSetup.environment().filter { InheritedVariables.contains($0.key, usesDatabase: false) },
            logFile: "\(folder.log)/keeper.log")
        let launched = try self.launcher.launch(plan)
        self.pid = launched.pid
        self.descriptors = [launched.process, launched.ready]
    }

    /// Ends the process, which is no longer needed.
    deinit {
        kill(self.pid, SIGKILL)
        waitpid(self.pid, nil, 0)
        for descriptor in self.descriptors { close(descriptor) }
    }

    /// The main function of the process: waits for the end of `up`, then stops the server, unless another `up` has
    /// taken over.
    static func keep(_ folder: DataFolder, parent: Int32) throws {
        var byte: UInt8 = 0
        while true {
            let count = read(parent, &byte, 1)
            if count == 0 || (count < 0 && errno != EINTR) { break }
        }
        guard let lock = try? DataFolderLock(folder, as: .keeper) else { return }
        defer { withExtendedLifetime(lock) {} }
        let cluster = try PrivateCluster(folder.postgres)
        do {
            try cluster.stop(.fast, deadline: .seconds(10))
        } catch {
            try cluster.kill()
        }
    }
}

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
