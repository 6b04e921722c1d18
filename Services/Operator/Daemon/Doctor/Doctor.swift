internal import Auth
internal import Boot
internal import CLinux
internal import Glibc
internal import Postgres
internal import Stages

/// Checks a machine and a configuration without changing either.
struct Doctor {
    let catalog: StageCatalog
    let folder: DataFolder
    let port: Int
    let gateways: Int
    let configPath: String?
    let databaseURL: String?
    /// Settings of the daemons, as flags.
    let extra: [String]

    /// All checks, in the order in which a new user needs them.
    func examine() -> [Finding] {
        let environment = ProcessSetup.environment()
        return [self.zeroMQ(), self.libpq()] + self.settings(environment) + [self.admission(environment)]
            + LinkCheckup(resolve: { self.resolver($0, environment) }).examine()
            + [self.gatewayEncryption(environment)] + self.database(environment)
            + [self.descriptors(), self.dataFolder(), self.space(), self.sockets(environment)] + self.ports(environment)
            + [
                self.clock()
            ]
    }

    // MARK: Libraries

    private func zeroMQ() -> Finding {
        guard let version = Self.zeroMQVersion() else {
            return .fail("libzmq", "not loaded", "install it: apt-get install libzmq5")
        }
        let text = version.map(String.init).joined(separator: ".")
        // All known vulnerabilities of the decoder in earlier versions are fixed in 4.3.3.
        guard version.lexicographicallyPrecedes([4, 3, 3]) else { return .ok("libzmq", text) }
        return .fail("libzmq", "\(text) has known holes", "install 4.3.3 or newer: apt-get install libzmq5")
    }

    /// Three numbers, asked for without the header that belongs to Mesh.
    private static func zeroMQVersion() -> [Int]? {
        typealias Function =
            @convention(c) (
                UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>
            ) -> Void
        guard let symbol = dlsym(nil, "zmq_version") else { return nil }
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        unsafeBitCast(symbol, to: Function.self)(&major, &minor, &patch)
        return [Int(major), Int(minor), Int(patch)]
    }

    private func libpq() -> Finding {
        let version = BlockingConnection.libraryVersion
        let text = "\(version / 10000).\(version % 10000)"
        guard version < 140_000 else { return .ok("libpq", text) }
        return .fail("libpq", "\(text) has no pipeline mode", "install 14 or newer: apt-get install libpq5")
    }

    // MARK: Settings

    private func settings(_ environment: [String: String]) -> [Finding] {
        var problems = self.given.problems.map(\.description)
        for schema in self.catalog.schemas {
            let resolver = self.resolver(schema, environment)
            for problem in resolver.problems where !problems.contains(problem.description) {
                problems.append(problem.description)
            }
        }
        var findings = problems.map { Finding.fail("settings", $0, "repair it at the place named") }
        let known =
            self.catalog.schemas.flatMap { $0.settings.map(\.environmentVariable) }
            + ["TOUCHSYNC_CONFIG", TouchSyncCommand.tokenVariable]
        for name in environment.keys.sorted() where name.hasPrefix("TOUCHSYNC_") && !known.contains(name) {
            findings.append(
                .warn("settings", "\(name) is no setting of any daemon", "look for a misspelling, or unset it"))
        }
        if findings.isEmpty {
            let path = self.configPath ?? environment["TOUCHSYNC_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
            findings.append(.ok("settings", path.map { "\($0) is fine" } ?? "no settings file; environment is fine"))
        }
        return findings
    }

    private var given: (inputs: [(setting: any SettingDeclaration, text: String)], problems: [SettingProblem]) {
        SettingsSchema.read(self.extra, of: self.catalog.schemas)
    }

    func resolver(_ stage: Stage, _ environment: [String: String]) -> SettingsResolver {
        self.resolver(self.catalog.schema(stage), environment)
    }

    private func resolver(_ schema: SettingsSchema, _ environment: [String: String]) -> SettingsResolver {
        let flags = self.given.inputs.filter { schema.setting(named: $0.setting.name) != nil }
            .map { "\($0.setting.flag)=\($0.text)" }
        return SettingsResolver(
            schema: schema, arguments: (self.configPath.map { ["--config", $0] } ?? []) + flags,
            environment: environment)
    }

    /// Who may do what on the gateways.
    private func admission(_ environment: [String: String]) -> Finding {
        let values = self.resolver(.gateway, environment).values
        let host = values.text(ofSetting: "host") ?? "127.0.0.1"
        if values[SharedSettings.jwtSecret] != nil || values[SharedSettings.jwtKeysFile] != nil {
            return .ok("access", "by token")
        }
        if Loopback.contains(host) { return .ok("access", "open to everybody on this machine; \(host) is loopback") }
        let remedy = "set TOUCHSYNC_JWT_SECRET (at least \(KeySet.shortestSecret) bytes) or jwt-keys-file"
        if values[SharedSettings.open] {
            return .warn("access", "open to everybody who reaches \(host), as --open demands", remedy)
        }
        return .fail("access", "there are no token keys, and others can reach \(host): gateways will not start", remedy)
    }

    // MARK: Database

    private func database(_ environment: [String: String]) -> [Finding] {
        let given = self.databaseURL ?? self.resolver(.committer, environment).values[SharedSettings.databaseURL]
        guard let given else { return [self.binaries()] }
        return [self.databaseEncryption(given, environment)] + self.examine(given)
    }

    private func examine(_ given: String) -> [Finding] {
        do {
            let connection = try BlockingConnection(
                given, applicationName: "touchsync doctor", requiresReadWrite: false)
            defer { connection.close() }
            return try DatabaseCheckup(connection: connection, url: given, migrations: self.catalog.migrations)
                .examine()
        } catch {
            return [
                .fail(
                    "database", "\(ConnectionString.masked(given)) cannot be reached: \(error)",
                    "check that PostgreSQL runs there and accepts this role (pg_hba.conf, password, firewall)")
            ]
        }
    }

    private func binaries() -> Finding {
        do {
            let folder = try PrivateCluster.findBinaries()
            return .ok("database", "none is configured; a private one will be run with \(folder)")
        } catch {
            return .fail(
                "database", "none is configured, and PostgreSQL's programs were not found",
                "apt-get install postgresql-15, or set DATABASE_URL")
        }
    }

    // MARK: Machine

    private func descriptors() -> Finding {
        let limit = ProcessSetup.prepare()
        guard limit < 4096 else { return .ok("descriptors", "limit \(limit)") }
        return .warn(
            "descriptors", "limit \(limit); every connection needs one",
            "raise the hard limit: LimitNOFILE=65536 in the unit, or ulimit -Hn 65536")
    }

    private func dataFolder() -> Finding {
        let path = self.existingFolder
        guard access(path, W_OK | X_OK) == 0 else {
            return .fail("data folder", "\(path) cannot be written", "choose another --data, or change its owner")
        }
        if DataFolderLock.isHeld(self.folder) {
            let owner = DataFolderLock.owner(of: self.folder).map { ", process \($0.pid)" } ?? ""
            return .ok("data folder", "\(self.folder.path); a pipeline runs in it\(owner)")
        }
        return .ok("data folder", self.folder.path)
    }

    /// The data folder, or the nearest folder above it that exists.
    private var existingFolder: String {
        var path = self.folder.path
        while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/") {
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        return path
    }

    private func space() -> Finding {
        var info = statvfs()
        guard statvfs(self.existingFolder, &info) == 0 else {
            return .warn("space", "unknown", "look at df \(self.existingFolder)")
        }
        let free = UInt64(info.f_bavail) &* UInt64(info.f_frsize)
        let text = "\(free >> 20) MiB free"
        guard free < 1 << 30 else { return .ok("space", text) }
        return .warn("space", text, "PostgreSQL stops when its disk is full; make room or choose another --data")
    }

    private func sockets(_ environment: [String: String]) -> Finding {
        let user = self.resolver(.gateway, environment).values[SharedSettings.user]
        let folder = self.folder.sockets(for: ProcessUser.isRoot ? user.flatMap { .init(named: $0) } : nil)
        if folder.hasPrefix(self.folder.path) { return .ok("sockets", folder) }
        return .ok("sockets", "\(folder), because a UNIX socket's path under \(self.folder.path) would be too long")
    }

    private func ports(_ environment: [String: String]) -> [Finding] {
        guard !DataFolderLock.isHeld(self.folder) else { return [] }
        let host = self.resolver(.gateway, environment).values.text(ofSetting: "host")
        let hosts = ListeningAddress.hosts(of: host, hasIPv6: ListeningAddress.isIPv6Here)
        return (0..<max(1, self.gateways)).map { index in
            let port = self.port + index
            for address in hosts.map({ ListeningAddress(host: $0, port: port) }) {
                guard let obstacle = address.obstacle() else { continue }
                return .fail("port \(port)", "\(address): \(obstacle)", "stop that, or choose another --port")
            }
            return .ok("port \(port)", "free")
        }
    }

    private func clock() -> Finding {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        // The first second of 2025: an earlier clock would reject today's tokens and certificates.
        guard time.tv_sec > 1_735_689_600 else {
            return .fail("clock", "\(time.tv_sec) s since 1970", "set it; tokens are judged by it")
        }
        guard linux_clock_is_synchronised() != 0 else {
            return .warn(
                "clock", "not known to be synchronised",
                "run an NTP client (chrony, systemd-timesyncd): tokens are judged by it")
        }
        return .ok("clock", "synchronised")
    }
}
