internal import Glibc
internal import Postgres

/// A process that outlives `touchsync up` and stops its private PostgreSQL if `up` was killed and could not. The server
/// itself has no eye on us, and a killed process can do nothing more.
final class PostgresKeeper {
    private let launcher: ProcessLauncher
    private let pid: Int32
    private let descriptors: [Int32]

    /// Starts the process.
    /// - Parameter command: the path of our own program.
    init(_ folder: DataFolder, command: String) throws(OperatorFailure) {
        self.launcher = try ProcessLauncher()
        let plan = ProcessPlan(
            executable: command,
            arguments: [
                "keep", "--data", folder.path, "--parent-fd", "\(ProcessLauncher.parentDescriptor)",
            ], logFile: "\(folder.log)/keeper.log")
        let launched = try self.launcher.launch(plan)
        self.pid = launched.pid
        self.descriptors = [launched.process, launched.ready]
    }

    /// Ends the process: there is nothing left for it to do.
    deinit {
        kill(self.pid, SIGKILL)
        waitpid(self.pid, nil, 0)
        for descriptor in self.descriptors { close(descriptor) }
    }

    /// What the process does: waits for the end of `up`, then stops the server, unless another `up` has taken over.
    static func keep(_ folder: DataFolder, parent: Int32) throws {
        var byte: UInt8 = 0
        while true {
            let count = read(parent, &byte, 1)
            if count == 0 || (count < 0 && errno != EINTR) { break }
        }
        guard let lock = try? DataFolderLock(folder, as: .keeper) else { return }
        defer { withExtendedLifetime(lock) {} }
        let cluster = try PrivateCluster(PrivateClusterOptions(folder: folder.postgres))
        do {
            try cluster.stop(.fast, deadline: .seconds(10))
        } catch {
            try cluster.kill()
        }
    }
}
