import Boot
import Glibc
import Stages
import Testing

@testable import OperatorDaemon

@Suite struct UpTests {
    private struct Gateway: DaemonSettings {
        static let quirk = Setting.int("quirk", default: 1, in: 1...9, "A setting of the gateway only.")
        static let schema = SettingsSchema(
            "gateway", summary: "g.",
            [
                Setting.int("port", default: 8080, in: 1...65535, "Port."),
                Setting.string("host", default: "h", "Host."),
                quirk, SharedSettings.coalescers, SharedSettings.committers,
                SharedSettings.fanouts,
                SharedSettings.jwtSecret,
            ])
        init(_ values: SettingValues) throws(SettingProblem) {}
    }
    private struct Coalescer: DaemonSettings {
        static let schema = SettingsSchema(
            "coalescer", summary: "c.", [SharedSettings.bind, SharedSettings.committers, SharedSettings.fanouts])
        init(_ values: SettingValues) throws(SettingProblem) { _ = try values.required(SharedSettings.bind) }
    }
    private struct Committer: DaemonSettings {
        static let schema = SettingsSchema(
            "committer", summary: "c.", [SharedSettings.bind, SharedSettings.fanouts, SharedSettings.databaseURL])
        init(_ values: SettingValues) throws(SettingProblem) { _ = try values.required(SharedSettings.databaseURL) }
    }
    private struct Fanout: DaemonSettings {
        static let schema = SettingsSchema("fanout", summary: "f.", [SharedSettings.bind, SharedSettings.databaseURL])
        init(_ values: SettingValues) throws(SettingProblem) {}
    }

    private let catalog = StageCatalog(
        settings: [
            .gateway: Gateway.self, .coalescer: Coalescer.self, .committer: Committer.self, .fanout: Fanout.self,
        ],
        migrations: [])
    private let topology = Topology(counts: [.gateway: 2, .committer: 2], port: 8080, sockets: "/run/ts")

    private func planner(_ extra: [String] = [], environment: [String: String] = [:]) -> DaemonPlanner {
        DaemonPlanner(
            catalog: self.catalog, topology: self.topology, configPath: nil, environment: environment, extra: extra)
    }

    @Test func everyInstanceIsToldItsNeighbours() {
        #expect(
            self.topology.flags(.gateway, 1) == [
                "--name", "gateway-2", "--port", "8081",
                "--coalescers", "coalescer-1=ipc:///run/ts/coalescer-1.sock",
                "--committers", "committer-1=ipc:///run/ts/committer-1.sock,committer-2=ipc:///run/ts/committer-2.sock",
                "--fanouts", "fanout-1=ipc:///run/ts/fanout-1.sock",
            ])
        #expect(
            self.topology.flags(.committer, 1) == [
                "--name", "committer-2", "--bind", "ipc:///run/ts/committer-2.sock", "--fanouts",
                "fanout-1=ipc:///run/ts/fanout-1.sock",
            ])
        #expect(self.topology.flags(.fanout, 0) == ["--name", "fanout-1", "--bind", "ipc:///run/ts/fanout-1.sock"])
    }

    @Test func theFlagsAreWhatTheDaemonsAccept() {
        for stage in Stage.allCases {
            #expect(self.planner().resolve(stage, database: "d").problems.isEmpty, "\(stage)")
        }
    }

    @Test func membersGetTheirSettingsAndSecretsStayOutOfSight() throws {
        let secret = "0123456789abcdef0123456789abcdef"
        let members = self.planner(["--quirk", "7", "--jwt-secret", secret, "--log-level=debug"])
            .members(programs: "/opt/ts", folder: DataFolder("/data"), database: "postgresql://u:p@h/d")
        #expect(
            members.map(\.name) == ["fanout-1", "committer-1", "committer-2", "coalescer-1", "gateway-1", "gateway-2"])
        let gateway = try #require(members.last?.plan)
        #expect(gateway.executable == "/opt/ts/touchsync-gateway")
        #expect(gateway.logFile == "/data/log/gateway-2.log")
        #expect(gateway.arguments.contains("--quirk=7") && gateway.arguments.contains("--log-level=debug"))
        #expect(gateway.arguments.suffix(3) == ["--drain-timeout-ms=4500", "--ready-fd=3", "--parent-fd=4"])
        #expect(gateway.environment == ["TOUCHSYNC_JWT_SECRET": secret])
        let committer = members[1].plan
        #expect(committer.environment == ["TOUCHSYNC_DATABASE_URL": "postgresql://u:p@h/d"])
        #expect(!committer.arguments.contains("--quirk=7") && committer.arguments.contains("--log-level=debug"))
        for member in members {
            #expect(!member.plan.arguments.contains { $0.contains(secret) || $0.contains("u:p@") })
        }
    }

    @Test func theOperatorsTokenReachesEveryDaemonOutOfSight() throws {
        let token = "0123456789abcdef0123456789abcdef"
        var planner = self.planner(environment: ["TOUCHSYNC_OPERATOR_TOKEN": "another one, of the surroundings"])
        planner.operatorToken = token
        let monitor = try #require(planner.monitor("/p/touchsync", folder: DataFolder("/d")))
        #expect(
            monitor.plan.arguments.starts(with: ["monitor", "--name", "monitor", "--daemons", "/d/run/state.json"]))
        for member in planner.members(programs: "/p", folder: DataFolder("/d"), database: "d") + [monitor] {
            #expect(member.plan.environment["TOUCHSYNC_OPERATOR_TOKEN"] == token)
            #expect(!member.plan.arguments.contains { $0.contains(token) })
        }
    }

    @Test func daemonsInheritWhatTheyUseAndNoSecretOfOthers() throws {
        let environment = [
            "TOUCHSYNC_JWT_SECRET": "s", "DATABASE_URL": "postgresql://h/d", "PGPASSWORD": "p", "PATH": "/bin",
            "LD_PRELOAD": "/x.so", "TOUCHSYNC_LOG_LEVEL": "debug", "CLOUD_SECRET": "c", "TOUCHSYNC_OTHER": "o",
        ]
        let planner = self.planner(environment: environment)
        let members = planner.members(programs: "/p", folder: DataFolder("/d"), database: "postgresql://h/d")
        let monitor = try #require(planner.monitor("/p/touchsync", folder: DataFolder("/d")))
        let all: Set = ["PATH", "LD_PRELOAD", "TOUCHSYNC_LOG_LEVEL"]
        for member in members + [monitor] {
            let own: Set<String> =
                switch member.stage {
                case .gateway: ["TOUCHSYNC_JWT_SECRET"]
                case .coalescer, nil: []
                case .committer, .fanout: ["TOUCHSYNC_DATABASE_URL", "PGPASSWORD"]
                }
            #expect(Set(member.plan.environment.keys) == all.union(own), "\(member.name)")
        }
    }

    @Test func addressesOfAllDaemonsAreKnownBeforeTheyStart() {
        let planner = self.planner(environment: ["TOUCHSYNC_ADMIN_PORT": "9000"])
        #expect(
            planner.listeners(hasIPv6: true).map { "\($0.name) \($0.setting) \($0.address)" } == [
                "fanout-1 --admin-port 127.0.0.1:9000", "committer-1 --admin-port 127.0.0.1:9000",
                "committer-2 --admin-port 127.0.0.1:9000", "coalescer-1 --admin-port 127.0.0.1:9000",
                "gateway-1 --admin-port 127.0.0.1:9000", "gateway-1 --port 127.0.0.1:8080",
                "gateway-1 --port [::1]:8080", "gateway-2 --admin-port 127.0.0.1:9000",
                "gateway-2 --port 127.0.0.1:8081", "gateway-2 --port [::1]:8081",
            ])
    }

    @Test func gatewaysOnLoopbackListenOnBothOfItsAddresses() {
        #expect(ListeningAddress.hosts(of: nil, hasIPv6: true) == ["127.0.0.1", "::1"])
        #expect(ListeningAddress.hosts(of: "localhost", hasIPv6: false) == ["127.0.0.1"])
        for host in ["::1", "127.0.0.2", "0.0.0.0", "h"] {
            #expect(ListeningAddress.hosts(of: host, hasIPv6: false) == [host])
        }
    }

    @Test func whoListensOnAnAddressIsNamed() throws {
        #expect(ListeningAddress(host: "::1", port: 7000).description == "[::1]:7000")
        #expect(ListeningAddress(host: "127.0.0.1", port: 0).obstacle() == nil)
        #expect(ListeningAddress(host: "127.0.0.1", port: 65_536).obstacle() == "ports end at 65535")
        #expect(ListeningAddress(host: "192.0.2.1", port: 80).obstacle() == "this machine has no such address")
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &place) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try #require(bind(descriptor, $0, size) == 0 && listen(descriptor, 1) == 0)
                try #require(getsockname(descriptor, $0, &size) == 0)
            }
        }
        let address = ListeningAddress(host: "127.0.0.1", port: Int(UInt16(bigEndian: place.sin_port)))
        let obstacle = try #require(address.obstacle())
        #expect(obstacle.hasSuffix("(process \(getpid())) listens there"), "\(obstacle)")
        close(descriptor)
        #expect(address.obstacle() == nil)
    }

    @Test func aShorterDrainIsKept() throws {
        let members = self.planner(["--drain-timeout-ms", "100"])
            .members(programs: "/p", folder: DataFolder("/d"), database: "d")
        #expect(
            members.allSatisfy {
                $0.plan.arguments.filter { $0.hasPrefix("--drain-timeout-ms") } == ["--drain-timeout-ms=100"]
            })
    }

    @Test(arguments: [
        (["--nope", "1"], "--nope: is no setting of touchsync or its daemons; see --help (command line)"),
        (["stray"], "stray: is no flag; see --help (command line)"),
        (["--bind", "ipc:///x"], "--bind: is given by touchsync up itself (command line)"),
        (["--check-config"], "flag: must stand alone (command line)"),
    ])
    func anExtraFlagThatNobodyKnowsIsNamed(_ extra: [String], _ expected: String) {
        #expect(self.planner(extra).problems.map(\.description) == [expected])
    }

    @Test func aWrongExtraValueIsFoundBeforeAnythingRuns() {
        #expect(
            self.planner(["--quirk", "10"]).resolve(.gateway, database: nil).problems.map(\.description)
                == ["--quirk: must be a whole number from 1 to 9, not \"10\" (command line)"])
        #expect(
            self.planner(environment: ["TOUCHSYNC_LOG_LEVEL": "x"]).resolve(.fanout, database: nil).problems.count == 1)
    }

    @Test func longFoldersGetShortSockets() {
        #expect(DataFolder("/srv/ts/").path == "/srv/ts")
        #expect(DataFolder("/srv/ts").sockets(user: 5) == "/srv/ts/run")
        #expect(DataFolder("x").path.hasSuffix("/x") && DataFolder("x").path.hasPrefix("/"))
        let long = DataFolder("/srv/" + String(repeating: "d", count: 90))
        #expect(long.sockets(user: 5).hasPrefix("/tmp/touchsync-5-"))
        #expect(long.sockets(user: 5) != DataFolder(long.path + "x").sockets(user: 5))
        for folder in ["/srv/ts", long.path] {
            let longest = DataFolder(folder).sockets(user: .max) + "/committer-64.sock"
            #expect(longest.utf8.count <= PeerAddress.longestSocketPath)
        }
    }

    @Test func foldersArePreparedAndLocked() throws {
        let temporary = TemporaryFolder()
        let folder = DataFolder(temporary.path + "/a/b")
        try folder.prepare()
        try folder.prepare()
        var info = stat()
        #expect(stat(folder.run, &info) == 0 && info.st_mode & 0o777 == 0o700)
        #expect(!DataFolderLock.isHeld(folder))
        do {
            let lock = try DataFolderLock(folder)
            #expect(DataFolderLock.isHeld(folder) && DataFolderLock.owner(of: folder)?.pid == getpid())
            let failure = #expect(throws: OperatorFailure.self) { try DataFolderLock(folder) }
            #expect(
                failure?.description
                    == "another touchsync up (process \(getpid())) runs on \(folder.path); stop it, or choose another --data"
            )
            withExtendedLifetime(lock) {}
        }
        #expect(!DataFolderLock.isHeld(folder))
        #expect(throws: OperatorFailure.self) { try DataFolder("/proc/nowhere").prepare() }
    }

    @Test func whatAnotherUserHasPreparedIsRefusedAndLeftAlone() throws {
        let temporary = TemporaryFolder()
        let folder = DataFolder(temporary.path + "/data")
        let victim = temporary.path + "/victim"
        #expect(FileBytes.create(victim, with: Array("precious".utf8)) == nil)
        func refusal() -> String? {
            do throws(OperatorFailure) {
                try folder.prepare()
                _ = try DataFolderLock(folder)
                return nil
            } catch { return error.description }
        }
        try folder.prepare()
        #expect(symlink(victim, folder.lockFile) == 0)
        #expect(refusal()?.contains("lock cannot be opened: It is a symbolic link") == true)
        #expect(!DataFolderLock.isHeld(folder))
        unlink(folder.lockFile)
        #expect(mkfifo(folder.lockFile, 0o600) == 0)
        #expect(refusal()?.contains("lock is no file of this user's") == true)
        unlink(folder.lockFile)
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(refusal() == "\(folder.path) may be written by other users: chmod go-w \(folder.path)")
        #expect(chmod(folder.path, 0o755) == 0)
        #expect(rename(folder.log, folder.log + ".away") == 0 && symlink(temporary.path, folder.log) == 0)
        #expect(refusal()?.hasPrefix("\(folder.log) is a symbolic link") == true)
        unlink(folder.log)
        #expect(refusal() == nil)
        if geteuid() == 0 {
            #expect(chown(folder.run, 1, 1) == 0)
            #expect(refusal()?.hasPrefix("\(folder.run) must belong to the user of touchsync up") == true)
        }
        #expect(try FileBytes.read(victim).get() == Array("precious".utf8))
    }

    @Test func daemonsWithAUserOfTheirOwnHaveSocketsWhereTheyMayNotWriteOtherwise() {
        let folder = DataFolder("/srv/ts")
        #expect(folder.sockets(user: 5, isShared: false) == "/srv/ts/sockets")
        #expect(!folder.stateFile.hasPrefix("/srv/ts/sockets") && !folder.databaseFile.hasPrefix("/srv/ts/sockets"))
    }

    @Test func aPipelineThatIsStartedAsRootRunsAsRootUnlessItIsGivenAUser() {
        func planner(_ extra: [String], isRoot: Bool) -> DaemonPlanner {
            DaemonPlanner(
                catalog: self.catalog, topology: self.topology, configPath: nil, environment: [:], extra: extra,
                isRoot: isRoot)
        }
        #expect(planner([], isRoot: true).flags(.fanout, 0).last == "--allow-root=true")
        #expect(planner([], isRoot: false).flags(.fanout, 0).contains("--allow-root=true") == false)
        let other = planner(["--user", "ana"], isRoot: true)
        #expect(other.user == "ana" && !other.runsAsRoot && other.flags(.fanout, 0).last == "--user=ana")
        let forbidden = planner(["--allow-root=false"], isRoot: true)
        #expect(forbidden.flags(.fanout, 0).last == "--allow-root=false")
    }

    @Test func staleSocketsGo() throws {
        let temporary = TemporaryFolder()
        let folder = DataFolder(temporary.path)
        try folder.prepare()
        for name in ["gateway-1.sock", "gateway-1.sock.previews", "state.json"] {
            close(open("\(folder.run)/\(name)", O_CREAT | O_WRONLY, 0o600))
        }
        folder.removeStaleSockets()
        #expect(access("\(folder.run)/gateway-1.sock", F_OK) != 0)
        #expect(access("\(folder.run)/gateway-1.sock.previews", F_OK) != 0)
        #expect(access("\(folder.run)/state.json", F_OK) == 0)
    }

    @Test func theReportReadsWhatItWrote() throws {
        let statuses = [
            Supervisor.Status(stage: .fanout, name: "fanout-1"),
            Supervisor.Status(
                stage: .gateway, name: "gateway-1", pid: 7, isReady: true, http: "http://127.0.0.1:9",
                url: "http://127.0.0.1:8080"),
            Supervisor.Status(stage: nil, name: "monitor", pid: 9, isReady: true, http: "http://127.0.0.1:10"),
            Supervisor.Status(stage: .gateway, name: "gateway-2", pid: 8),
        ]
        let report = PipelineReport(statuses: statuses, topology: self.topology, database: "postgresql://h/d")
        #expect(
            report.json()
                == #"{"urls":["http://127.0.0.1:8080","http://127.0.0.1:8081"],"#
                + #""database":"postgresql://h/d","processes":["#
                + #"{"stage":"gateway","name":"gateway-1","pid":7,"http":"http://127.0.0.1:9","ready":true},"#
                + #"{"stage":"gateway","name":"gateway-2","pid":8,"http":null,"ready":false},"#
                + #"{"stage":"fanout","name":"fanout-1","pid":null,"http":null,"ready":false},"#
                + #"{"stage":"monitor","name":"monitor","pid":9,"http":"http://127.0.0.1:10","ready":true}]}"# + "\n")
        #expect(report.monitorURL == "http://127.0.0.1:10")
        #expect(PipelineReport(Array(report.json().utf8), database: report.database) == report)
        #expect(PipelineReport([], database: "") == nil)
        #expect(report.table.contains("gateway-2  8    starting  -"))
    }

    @Test func theReportHasNoPasswordUnlessAScriptAsksForIt() {
        let report = PipelineReport(urls: [], database: "postgresql://me:hunter2@h/d", processes: [])
        #expect(report.json().contains(#""postgresql://me:********@h/d""#))
        #expect(report.json(showsSecrets: true).contains("hunter2"))
        #expect(PipelineReport(Array(report.json().utf8), database: report.database) == report)
    }
}

@Suite struct ExampleTests {
    @Test func theDaemonsTakeTheListsThatUpGivesThem() {
        let planner = DaemonPlanner(
            catalog: .installed, topology: Topology(counts: [.gateway: 3], port: 8080, sockets: "/s"),
            configPath: nil, environment: [:], extra: [])
        #expect(planner.resolve(.gateway, database: nil).problems.isEmpty)
    }

    @Test(
        arguments: [
            ([], [:], "http"), (["--tls-certificate", "c.pem"], [:], "https"),
            ([], ["TOUCHSYNC_TLS_CERTIFICATE": "c.pem"], "https"),
        ] as [([String], [String: String], String)])
    func gatewaysThatStartAreShownUnderTheSchemeThatTheyWillHave(
        _ extra: [String], _ environment: [String: String], _ scheme: String
    ) {
        let planner = DaemonPlanner(
            catalog: .installed, topology: Topology(counts: [:], port: 8080, sockets: "/s"), configPath: nil,
            environment: environment, extra: extra)
        let report = PipelineReport(
            statuses: [Supervisor.Status(stage: .gateway, name: "gateway-1")], topology: planner.topology,
            database: "postgresql://h/d")
        #expect(report.urls == ["\(scheme)://127.0.0.1:8080"])
    }

    /// The settings file that we ship is one that the daemons accept.
    @Test(arguments: Stage.allCases) func theExampleIsAccepted(_ stage: Stage) throws {
        let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let resolver = SettingsResolver(
            schema: StageCatalog.installed.schema(stage),
            arguments: ["--config", "/\(folder)/deploy/config/touchsync.json"],
            environment: [:], readFile: { FileBytes.read($0) })
        #expect(resolver.problems.isEmpty, "\(resolver.problems)")
    }
}
