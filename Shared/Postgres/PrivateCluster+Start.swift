import Glibc
internal import Processes
internal import Timing

extension PrivateCluster {
    /// Starts the cluster: creates it if it does not exist, starts it if it is not running, and returns once it accepts
    /// connections and the database exists. Idempotent, and safe to call from several processes.
    package func start() throws -> Start {
        let lock = try FolderLock(place.lock)
        defer { lock.release() }
        var result = Start.adopted
        if access("\(place.data)/PG_VERSION", F_OK) != 0 {
            try create()
            result = .created
        }
        let limit = monotonicNow() + .seconds(60)
        if processID == nil {
            if result == .adopted { result = .started }
            try configure()
            try launch(limit)
        } else {
            try awaitConnection(child: nil, limit)
        }
        _ = try Migrator.ensureDatabase(connectionString)
        return result
    }

    /// The folder of `initdb` and `postgres`: that of the requested version in the distributions' location, else PATH,
    /// else the newest there, 15 or later.
    package static func findBinaries(version: Int? = nil) throws(ClusterError) -> String {
        func isComplete(_ folder: String) -> Bool {
            ["initdb", "postgres"].allSatisfy { access("\(folder)/\($0)", X_OK) == 0 }
        }
        var folders = version.map { ["/usr/lib/postgresql/\($0)/bin", "/usr/pgsql-\($0)/bin"] } ?? []
        if let initdb = ChildProcess.find("initdb"), let resolved = realpath(initdb, nil) {
            folders.append(String(String(cString: resolved).dropLast("/initdb".count)))
            free(resolved)
        }
        for version in stride(from: 40, through: 15, by: -1) {
            folders += ["/usr/lib/postgresql/\(version)/bin", "/usr/pgsql-\(version)/bin"]
        }
        guard let found = folders.first(where: isComplete) else {
            throw ClusterError(
                "PostgreSQL's programs (initdb, postgres; version 15 or later) were not found: "
                    + "install the package postgresql")
        }
        return found
    }

    /// Runs initdb next to the final location, then renames: an incomplete cluster is never mistaken for a complete
    /// one.
    private func create() throws {
        let draft = "\(place.data).draft"
        try removeDraft(draft)
        try ClusterPlace.makeFolder(draft, mode: 0o700, owner: place.owner)
        var arguments = [
            "--pgdata=\(draft)", "--username=\(Self.role)", "--encoding=UTF8", "--locale=C", "--data-checksums",
            "--auth-local=trust", "--auth-host=scram-sha-256", "--no-instructions",
        ]
        if !syncsOnCreation { arguments.append("--no-sync") }
        let (program, all) = try place.command("\(binaries)/initdb", arguments)
        let status = try ChildProcess.run(
            program, all, environment: ClusterPlace.environment, output: .file(place.log))
        guard status == 0 else { throw ClusterError("initdb failed (\(status)): \(logTail())") }
        guard let version = TextFile.read("\(draft)/PG_VERSION").flatMap({ Int($0.prefix { $0.isNumber }) }),
            version >= 15
        else { throw ClusterError("PostgreSQL in \(binaries) is too old: version 15 or later is needed") }
        try TextFile.append(
            "\n# Written anew at every start; what stands below it here wins.\ninclude = 'touchsync.conf'\n",
            to: "\(draft)/postgresql.conf")
        guard rename(draft, place.data) == 0 else {
            throw ClusterError("cannot rename \(draft): \(String(cString: strerror(errno)))")
        }
    }

    /// Removes the remains of an initdb that was killed.
    private func removeDraft(_ draft: String) throws {
        guard access(draft, F_OK) == 0 else { return }
        guard let rm = ChildProcess.find("rm"),
            try ChildProcess.run(rm, ["-rf", "--", draft], environment: ClusterPlace.environment) == 0
        else { throw ClusterError("cannot remove \(draft)") }
    }

    private func configure() throws(ClusterError) {
        var settings: [(name: String, value: String)] = [
            ("shared_buffers", "128MB"), ("max_connections", "200"), ("max_wal_size", "2GB"), ("fsync", "on"),
            ("full_page_writes", "on"), ("synchronous_commit", "on"), ("wal_compression", "on"),
            ("checkpoint_timeout", "5min"), ("log_line_prefix", "%m [%p] %a "), ("log_min_messages", "warning"),
            // After a crash one call instead of one fsync for each of a thousand files.
            ("recovery_init_sync_method", "syncfs"),
        ]
        settings += self.settings
        var text = "# Written at every start.\n"
        for (name, value) in settings {
            guard name.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 95 || $0 == 46 }),
                !value.contains("\n")
            else { throw ClusterError("not a server setting: \(name)") }
            text +=
                "\(name) = '\(value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'\n"
        }
        let path = "\(place.data)/touchsync.conf"
        try TextFile.write(text, to: path)
        if let owner = place.owner { lchown(path, owner.user, owner.group) }
        forgetStaleLocks()
        var status = stat()
        if stat(place.log, &status) == 0, status.st_size > 16 << 20 { rename(place.log, "\(place.log).1") }
    }

    /// PostgreSQL removes the locks of a dead server by itself unless their process number has been reused since; then
    /// it would refuse to start.
    private func forgetStaleLocks() {
        let socketLock = "\(place.socket)/.s.PGSQL.\(ClusterPlace.port).lock"
        for path in ["\(place.data)/postmaster.pid", socketLock] {
            guard let line = TextFile.read(path)?.split(separator: "\n").first, let owner = Int32(line) else {
                continue
            }
            if !ChildProcess.hasEnded(owner) { unlink(path) }
        }
    }

    /// Starts the server and waits until it accepts connections. A server whose predecessor was killed cannot start
    /// before the last of the predecessor's processes is gone, so one that ends immediately is restarted until the
    /// deadline.
    private func launch(_ limit: Instant) throws {
        let socketSettings = [
            "-c", "unix_socket_directories=\(place.socket)", "-c", "unix_socket_permissions=0700",
            "-c", "port=\(ClusterPlace.port)", "-c", "listen_addresses=",
        ]
        let (program, arguments) = try place.command("\(binaries)/postgres", ["-D", place.data] + socketSettings)
        if let owner = place.owner, access(place.log, F_OK) == 0 { lchown(place.log, owner.user, owner.group) }
        var attempts = 0
        while true {
            let child = try ChildProcess.start(
                program, arguments, environment: ClusterPlace.environment, output: .file(place.log), leading: .session)
            attempts += 1
            if try awaitConnection(child: child.processID, limit) { break }
            guard attempts < 200, monotonicNow() < limit else {
                throw ClusterError("PostgreSQL does not start: \(logTail())")
            }
            Self.pause()
        }
    }

    /// False when the started process has ended before it accepted a connection.
    @discardableResult
    private func awaitConnection(child: Int32?, _ limit: Instant) throws -> Bool {
        var step: Int32 = 2
        while true {
            do throws(PostgresError) {
                try BlockingConnection(connectionString(database: "postgres")).close()
                return true
            } catch {
                // Not there yet, starting up, or recovering; any other error is permanent.
                guard error.sqlState.isRetriable else { throw error }
                if let child, ChildProcess.hasEnded(child) { return false }
                guard monotonicNow() < limit else {
                    throw ClusterError("PostgreSQL does not answer (\(error.message)): \(logTail())")
                }
            }
            // Every rejected connection is a line in the server's log.
            Self.pause(milliseconds: step)
            step = min(step * 2, 100)
        }
    }

    private func logTail() -> String {
        let lines = (TextFile.read(place.log) ?? "").split(separator: "\n").suffix(4)
        return "\(lines.joined(separator: " | ")) (\(place.log))"
    }
}
