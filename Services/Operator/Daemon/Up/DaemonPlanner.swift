internal import Boot
internal import OperatorMonitor
internal import Stages

/// Turns `touchsync up`'s options into the daemons' command lines, and validates them as the daemons will.
struct DaemonPlanner {
    let catalog: StageCatalog
    var topology: Topology
    /// The settings file, given to every daemon.
    let configPath: String?
    /// The process's environment, of which each daemon inherits what it uses.
    let environment: [String: String]
    /// Settings given to `up` for the daemons: each is passed to every daemon that has it.
    private(set) var extras: [(setting: any SettingDeclaration, text: String)] = []
    private(set) var problems: [SettingProblem] = []
    /// What the admin servers are to ask for; nil leaves it to the daemons' settings.
    var operatorToken: String?
    /// Whether `up`, and so each daemon at its start, is root.
    private let isRoot: Bool

    /// - Parameter extra: the flags that are not `up`'s own.
    init(
        catalog: StageCatalog, topology: Topology, configPath: String?, environment: [String: String],
        extra: [String], isRoot: Bool = false
    ) {
        self.isRoot = isRoot
        self.catalog = catalog
        self.topology = topology
        self.configPath = configPath
        self.environment = environment
        if topology.host == nil { self.topology.host = self.configured("host") }
        let read = SettingsSchema.read(extra, of: catalog.schemas)
        self.extras = read.inputs.filter { !Self.own.contains($0.setting.name) }
        self.topology.isSecure =
            self.configured("tls-certificate") != nil || self.extras.contains { $0.setting.name == "tls-certificate" }
        self.problems = read.problems
        self.problems += read.inputs.filter { Self.own.contains($0.setting.name) }.map { input in
            SettingProblem(subject: input.setting.flag, complaint: "is given by touchsync up itself", source: .flag)
        }
    }

    /// A gateway setting from the environment or the settings file; nil when unset.
    private func configured(_ setting: String) -> String? {
        let resolver = SettingsResolver(
            schema: self.catalog.schema(.gateway), arguments: self.configPath.map { ["--config", $0] } ?? [],
            environment: self.environment)
        return resolver.values.text(ofSetting: setting)
    }

    /// Settings that `up` assigns to each daemon.
    private static let own: Set<String> = [
        "name", "bind", "coalescers", "committers", "fanouts", "ready-fd", "parent-fd", "admin-port", "port", "host",
        MonitorSettings.daemons.name,
    ]

    /// The flags of one instance, without the descriptors that are known only at its start. They contain no secrets:
    /// every user of a machine can read command lines.
    func flags(_ stage: Stage, _ index: Int) -> [String] {
        self.topology.flags(stage, index) + self.passedOn(to: self.catalog.schema(stage))
    }

    private func passedOn(to schema: SettingsSchema) -> [String] {
        var flags = self.configPath.map { ["--config", $0] } ?? []
        for (setting, text) in self.extras where !setting.isSecret && schema.setting(named: setting.name) != nil {
            flags.append("\(setting.flag)=\(text)")
        }
        if self.runsAsRoot { flags.append("\(SharedSettings.allowRoot.flag)=true") }
        return flags
    }

    /// The user that the daemons become, by the settings; nil: they stay what `up` is.
    var user: String? {
        guard self.isRoot else { return nil }
        return self.given(SharedSettings.user.name)?.text ?? self.configured(SharedSettings.user.name)
    }

    /// Whether the daemons run as root because nothing else was asked for: who starts a whole pipeline as root, in a
    /// container or on a machine of his own, wants it to run.
    var runsAsRoot: Bool { self.isRoot && self.user == nil && self.given(SharedSettings.allowRoot.name) == nil }

    private func given(_ setting: String) -> (setting: any SettingDeclaration, text: String)? {
        self.extras.first { $0.setting.name == setting }
    }

    /// The environment of one stage's daemons: what every process needs, and their own settings. A secret of one stage is
    /// not in the processes of another.
    func variables(_ stage: Stage) -> [String: String] { self.variables(self.catalog.schema(stage)) }

    private func variables(_ schema: SettingsSchema) -> [String: String] {
        let settings = Set(schema.settings.flatMap { [$0.environmentVariable] + $0.environmentAliases })
        let usesDatabase = schema.setting(named: SharedSettings.databaseURL.name) != nil
        var variables = self.environment.filter { name, _ in
            settings.contains(name) || InheritedVariables.contains(name, usesDatabase: usesDatabase)
        }
        for (setting, text) in self.extras where setting.isSecret && schema.setting(named: setting.name) != nil {
            variables[setting.environmentVariable] = text
        }
        if let operatorToken { variables[SharedSettings.operatorToken.environmentVariable] = operatorToken }
        return variables
    }

    /// The values that a stage's daemons will have, and the problems with them.
    func resolve(_ stage: Stage, database: String?) -> (values: SettingValues, problems: [SettingProblem]) {
        var environment = self.variables(stage)
        if let database { environment[SharedSettings.databaseURL.environmentVariable] = database }
        var resolver = SettingsResolver(
            schema: self.catalog.schema(stage), arguments: self.flags(stage, 0), environment: environment)
        if let type = self.catalog.settings[stage] { _ = resolver.settings(type) }
        return (resolver.values, resolver.problems)
    }

    /// What to tell an operator whose gateways let everybody in; nil when they ask for tokens, or listen on loopback only.
    var accessWarning: String? {
        let values = self.resolve(.gateway, database: nil).values
        let keys = [SharedSettings.jwtSecret, SharedSettings.jwtKeysFile].filter { self.has(.gateway, $0) }
        guard let host = self.topology.host, !Loopback.contains(host), keys.allSatisfy({ values[$0] == nil }) else {
            return nil
        }
        return "warning: there are no token keys, so everybody who reaches \(host) may do everything"
    }

    private func has(_ stage: Stage, _ setting: any SettingDeclaration) -> Bool {
        self.catalog.schema(stage).setting(named: setting.name) != nil
    }

    /// Where the daemons will listen over TCP, and the setting that says so.
    /// - Parameter hasIPv6: whether this machine has `::1`.
    func listeners(hasIPv6: Bool) -> [(name: String, setting: String, address: ListeningAddress)] {
        let hosts = ListeningAddress.hosts(of: self.topology.host, hasIPv6: hasIPv6)
        return Topology.startOrder.flatMap { stage in
            let values = self.resolve(stage, database: nil).values
            let admin = ListeningAddress(
                host: values[SharedSettings.adminHost], port: values[SharedSettings.adminPort])
            return self.topology.names(stage).enumerated().flatMap { index, name in
                var listeners = [(name: name, setting: SharedSettings.adminPort.flag, address: admin)]
                if stage == .gateway {
                    listeners += hosts.map { (name, "--port", .init(host: $0, port: self.topology.port + index)) }
                }
                return listeners
            }
        }
    }

    /// The monitor, which is started last; nil when daemons have a user of their own, who cannot read the state file.
    func monitor(_ command: String, folder: DataFolder) -> Supervisor.Member? {
        guard self.user == nil else { return nil }
        let (name, schema) = (PipelineReport.monitor, MonitorSettings.schema)
        let flags = [name, "--name", name, MonitorSettings.daemons.flag, folder.stateFile]
        let plan = ProcessPlan(
            executable: command, arguments: flags + self.passedOn(to: schema) + Self.descriptors,
            environment: self.variables(schema), logFile: "\(folder.log)/\(name).log")
        return Supervisor.Member(stage: nil, name: name, plan: plan)
    }

    private static let descriptors = [
        "\(SharedSettings.readyFd.flag)=\(ProcessLauncher.readyDescriptor)",
        "\(SharedSettings.parentFd.flag)=\(ProcessLauncher.parentDescriptor)",
    ]

    /// The processes of the stages, in the order of their start.
    func members(programs: String, folder: DataFolder, database: String) -> [Supervisor.Member] {
        Topology.startOrder.flatMap { stage in
            self.topology.names(stage).enumerated().map { index, name in
                var variables = self.variables(stage)
                if self.has(stage, SharedSettings.databaseURL) {
                    for alias in SharedSettings.databaseURL.environmentAliases { variables[alias] = nil }
                    variables[SharedSettings.databaseURL.environmentVariable] = database
                }
                let drain = min(
                    self.resolve(stage, database: database).values[SharedSettings.drainTimeout],
                    stage.window - .milliseconds(500))
                let flags =
                    self.flags(stage, index).filter { !$0.hasPrefix(SharedSettings.drainTimeout.flag) }
                    + ["\(SharedSettings.drainTimeout.flag)=\(SharedSettings.drainTimeout.shown(drain))"]
                    + Self.descriptors
                let plan = ProcessPlan(
                    executable: "\(programs)/\(stage.program)", arguments: flags, environment: variables,
                    logFile: "\(folder.log)/\(name).log")
                return Supervisor.Member(stage: stage, name: name, plan: plan)
            }
        }
    }
}

/// The variables that a daemon of `touchsync up` inherits beside its settings.
enum InheritedVariables {
    /// What C libraries and the runtime read.
    private static let names: Set<String> = [
        "TOUCHSYNC_CONFIG", "PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "GLIBC_TUNABLES", "RES_OPTIONS",
        "LOCALDOMAIN", "HOSTALIASES", "SSL_CERT_FILE", "SSL_CERT_DIR", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]
    /// The loader, the allocator, the runtime, and programs that are built to be measured.
    private static let prefixes = ["LC_", "LD_", "MALLOC_", "SWIFT_", "LLVM_PROFILE_"]

    /// - Parameter usesDatabase: whether it reads the variables of libpq, of which one is a password.
    static func contains(_ name: String, usesDatabase: Bool) -> Bool {
        self.names.contains(name) || self.prefixes.contains { name.hasPrefix($0) }
            || (usesDatabase && name.hasPrefix("PG"))
    }
}
