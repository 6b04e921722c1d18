internal import Boot
internal import CommitterDaemon
internal import Glibc
internal import OperatorTerminal
internal import Postgres
internal import Stages

/// `touchsync up`: a whole pipeline on one machine, from an empty folder to a clean stop.
struct Pipeline {
    /// What was asked for.
    let options: UpCommand
    /// The path of this program.
    let command: String
    /// The folder of the daemons' executables.
    let programs: String
    /// What a person at a terminal waits for.
    private let progress = ProgressLine()
    private let catalog = StageCatalog.installed

    /// Runs until it is asked to stop; throws when it cannot start.
    /// - Returns: the exit code.
    func run() throws -> Int32 {
        // Must be first: threads created later inherit the blocked signals.
        let stops = try StopRequests.signals()
        ProcessSetup.prepare()
        let folder = DataFolder(self.options.data)
        var planner = self.planner()
        let account = try self.account(planner)
        planner.topology.sockets = folder.sockets(for: account)
        try folder.prepare(for: account)
        let lock = try DataFolderLock(folder)
        defer { withExtendedLifetime(lock) {} }
        folder.removeStaleSockets(for: account)
        try self.requirePrograms()
        try self.validate(planner)
        try self.requireAddresses(planner)
        let token = planner.resolve(.gateway, database: nil).values[SharedSettings.operatorToken]
        planner.operatorToken = try folder.keepOperatorToken(token)

        let cluster = try self.cluster(folder, planner)
        let keeper = try cluster.map { _ in try PostgresKeeper(folder, command: self.command) }
        defer {
            self.stop(cluster)
            withExtendedLifetime(keeper) {}
        }
        try self.start(cluster, folder)
        let database = try self.database(planner, cluster)
        try self.migrate(database, cluster.map { _ in folder })

        try folder.note(database: database)
        var supervisor = try self.supervisor(planner, folder, database, stops)
        let outcome = supervisor.run()
        unlink(folder.stateFile)
        unlink(folder.databaseFile)
        switch outcome {
        case .stopped: return 0
        case .failed(let reason, let exitCode): throw OperatorFailure("gave up: \(reason)", exitCode: exitCode)
        }
    }

    // MARK: Before the daemons

    private func requirePrograms() throws(OperatorFailure) {
        for stage in Stage.allCases where access("\(self.programs)/\(stage.program)", X_OK) != 0 {
            throw OperatorFailure(
                "\(stage.program) is not in \(self.programs); build it, or run the touchsync that lies beside it")
        }
    }

    /// The daemons' command lines, without the folder of their sockets.
    private func planner() -> DaemonPlanner {
        let topology = Topology(
            counts: self.options.counts, port: self.options.port, host: self.options.host, sockets: "")
        return DaemonPlanner(
            catalog: self.catalog, topology: topology, configPath: self.options.config,
            environment: ProcessSetup.environment(), extra: self.options.settings, isRoot: ProcessUser.isRoot)
    }

    /// The daemons' account, if it is another one than `up`'s.
    private func account(_ planner: DaemonPlanner) throws(OperatorFailure) -> ProcessUser.Account? {
        if planner.runsAsRoot { self.tell("the daemons run as root; --user NAME gives them a user of their own") }
        guard let name = planner.user else { return nil }
        guard let account = ProcessUser.Account(named: name) else {
            throw OperatorFailure(
                "\(SharedSettings.user.flag): there is no user \(name) on this machine",
                exitCode: DaemonMain.configurationExitCode)
        }
        return account.user == 0 ? nil : account
    }

    /// Checks the daemons' settings before anything starts.
    private func validate(_ planner: DaemonPlanner) throws(OperatorFailure) {
        var problems = planner.problems
        for stage in Stage.allCases {
            // The database may not be known yet, but its setting is required.
            let known = self.options.databaseUrl ?? self.givenDatabase(planner) ?? "postgresql:///touchsync"
            for problem in planner.resolve(stage, database: known).problems {
                if !problems.contains(problem) { problems.append(problem) }
            }
        }
        guard problems.isEmpty else {
            throw OperatorFailure(
                problems.map(\.description).joined(separator: "\n"), exitCode: DaemonMain.configurationExitCode)
        }
        if let warning = planner.accessWarning { self.tell(warning) }
    }

    /// Checks that every daemon can listen where it is to. One that cannot would be started again and again.
    private func requireAddresses(_ planner: DaemonPlanner) throws(OperatorFailure) {
        var owners: [ListeningAddress: String] = [:]
        for (name, setting, address) in planner.listeners(hasIPv6: ListeningAddress.isIPv6Here)
        where address.port != 0 {
            let obstacle = owners[address].map { "\($0) is to listen there" } ?? address.obstacle()
            if let obstacle {
                throw OperatorFailure("\(name) cannot listen on \(address) (\(setting)): \(obstacle)")
            }
            owners[address] = name
        }
    }

    /// The database in the environment or the settings file.
    private func givenDatabase(_ planner: DaemonPlanner) -> String? {
        planner.resolve(.committer, database: nil).values[SharedSettings.databaseURL]
    }

    private func cluster(_ folder: DataFolder, _ planner: DaemonPlanner) throws -> PrivateCluster? {
        guard self.options.databaseUrl == nil, self.givenDatabase(planner) == nil else { return nil }
        // Only the server's own user can enter the folder of its socket.
        return try PrivateCluster(folder.postgres, user: planner.user)
    }

    private func start(_ cluster: PrivateCluster?, _ folder: DataFolder) throws {
        guard let cluster else { return }
        self.tell("starting a private PostgreSQL in \(folder.postgres)")
        self.progress.set("waiting for PostgreSQL; the first time it is created, which takes some seconds")
        defer { self.progress.clear() }
        do {
            _ = try cluster.start()
        } catch {
            throw OperatorFailure("PostgreSQL did not start: \(error) (see touchsync doctor)")
        }
    }

    private func database(_ planner: DaemonPlanner, _ cluster: PrivateCluster?) throws -> String {
        if let url = self.options.databaseUrl ?? self.givenDatabase(planner) { return url }
        guard let cluster else { throw OperatorFailure("there is no database") }
        return cluster.connectionString
    }

    /// - Parameter folder: the data folder of a private database.
    private func migrate(_ database: String, _ folder: DataFolder?) throws {
        do {
            self.progress.set("waiting for the database")
            defer { self.progress.clear() }
            let applied = try Migrator(self.catalog.migrations).migrate(database) { migration in
                self.progress.set("applying migration \(migration.version), \(migration.name)")
            }
            for migration in applied { self.tell("applied migration \(migration.version) \(migration.name)") }
            try RuntimeRole.renew(on: database)
        } catch let error as MigrationError where error.isTooOld {
            let remedy = folder.map { "; move \($0.path) away, or name another folder with --data" } ?? ""
            throw OperatorFailure("the database \(ConnectionString.masked(database)) is refused: \(error)\(remedy)")
        } catch {
            throw OperatorFailure("the database \(ConnectionString.masked(database)) cannot be migrated: \(error)")
        }
    }

    // MARK: The daemons

    private func supervisor(
        _ planner: DaemonPlanner, _ folder: DataFolder, _ database: String, _ stops: StopRequests
    ) throws(OperatorFailure) -> Supervisor {
        var members = planner.members(programs: self.programs, folder: folder, database: database)
        if let monitor = planner.monitor(self.command, folder: folder) { members.append(monitor) }
        var supervisor = try Supervisor(members: members, stops: stops, logLimit: self.options.logLimit)
        let topology = planner.topology
        let progress = self.progress
        var hasStarted = false
        supervisor.changed = { statuses in
            let missing = statuses.filter { !$0.isReady }.map(\.name)
            if !hasStarted, !missing.isEmpty { progress.set("waiting for \(missing.joined(separator: ", "))") }
            let report = PipelineReport(statuses: statuses, topology: topology, database: database)
            if let refusal = FileBytes.replace(folder.stateFile, with: Array(report.json().utf8)) {
                self.tell("\(folder.stateFile) \(refusal.reason)")
            }
        }
        supervisor.announced = { statuses in
            hasStarted = true
            progress.clear()
            let report = PipelineReport(statuses: statuses, topology: topology, database: database)
            let json = self.options.json ? report.json(showsSecrets: self.options.showSecrets) : nil
            ProcessSetup.print(json ?? self.welcome(report, folder, planner))
        }
        supervisor.told = self.tell
        self.tell("starting \(members.count) daemons")
        return supervisor
    }

    private func welcome(_ report: PipelineReport, _ folder: DataFolder, _ planner: DaemonPlanner) -> String {
        let first = report.urls.first ?? ""
        return """

            \(report.table)
            database  \(ConnectionString.masked(report.database))
            logs      \(folder.log)
            pipeline  \(self.operatorsPage(report, folder, planner))

            Ctrl-C stops everything.

            Ready: open \(first)/ in two windows.
            """
    }

    /// Where operators see the pipeline. The token is in the fragment, which browsers keep to themselves, and is shown to
    /// a person only: what is no terminal may be a log.
    private func operatorsPage(_ report: PipelineReport, _ folder: DataFolder, _ planner: DaemonPlanner) -> String {
        guard let url = report.monitorURL, let token = planner.operatorToken else { return "touchsync top" }
        guard TerminalOutput.standard.isTerminal else {
            return "\(url)/ asks for the token in \(folder.operatorTokenFile)"
        }
        return "\(url)/#token=\(token)"
    }

    private func stop(_ cluster: PrivateCluster?) {
        guard let cluster else { return }
        self.tell("stopping PostgreSQL")
        do {
            try cluster.stop(.fast, deadline: .seconds(2))
        } catch {
            self.tell("PostgreSQL does not stop: \(error); ending it")
            do { try cluster.kill() } catch { self.tell("\(error)") }
        }
    }

    private func tell(_ line: String) {
        self.progress.clear()
        ProcessSetup.complain("touchsync: \(line)\n")
    }
}
