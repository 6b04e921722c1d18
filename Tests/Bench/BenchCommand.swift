import ArgumentParser
import Boot

@main struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Simulates the load of many apps on a server and reports its performance.",
        discussion: """
            Without options it loads http://127.0.0.1:8080 with 20 rooms × 10 members, 2 of each sending previews 60 \
            times a second. TOUCHSYNC_TOKEN is a token that allows every room, for servers that require one.
            """)

    @Option(help: ArgumentHelp("Server address; may be repeated, connections are spread.", valueName: "url"))
    var url: [String] = []
    @Option(help: "The folder given to touchsync up: its addresses and processes.")
    var data: String?
    @Option(help: ArgumentHelp("A server process to watch; may be repeated.", valueName: "name=pid"))
    var pid: [Server] = []
    @Flag(help: "The server is a plain Socket.IO server that relays the events.")
    var plain = false
    @Flag(help: "Ask for previews that leave together in one message, as the project's clients do.")
    var batches = false
    @Option(
        help: ArgumentHelp(
            "Loads by name: standard, \(Preset.all.map(\.name).joined(separator: ", ")). May be repeated.",
            valueName: "name"))
    var preset: [String] = []
    @Option(help: "Sustainable senders per room for overload, instead of searching.")
    var sustainable: Int?
    @Flag(help: "Print one line of JSON instead of text.")
    var json = false
    @OptionGroup(title: "A load, or what is changed in the named ones")
    var changes: LoadChanges

    func run() throws {
        let reports = try self.bench().run { report in
            if !self.json { ProcessSetup.print(report.text) }
        }
        ProcessSetup.print(self.json ? Report.json(reports) : Report.goals(reports))
    }

    /// What the arguments ask for.
    func bench() throws -> Bench {
        var (urls, servers) = (self.url, self.pid)
        if let data {
            let pipeline = try Server.pipeline(in: data)
            if urls.isEmpty { urls = pipeline.urls }
            servers += pipeline.servers
        }
        if urls.isEmpty { urls = ["http://127.0.0.1:8080"] }
        let target = Target(
            addresses: try urls.map { try ServerAddress($0) }, token: ProcessSetup.environment()["TOUCHSYNC_TOKEN"],
            isPlain: self.plain, takesBatches: self.batches)
        return Bench(target: target, servers: servers, presets: try self.presets(), sustainable: self.sustainable)
    }

    private func presets() throws -> [Preset] {
        let named = try self.preset.flatMap { name in
            let found = Preset.all.filter { name == "standard" ? $0.isStandard : $0.name == name }
            if found.isEmpty { throw ValidationError("there is no preset \(name)") }
            return found
        }
        var presets = named.isEmpty ? [Preset(name: "load", phases: [Preset.Phase("", Load())])] : named
        for index in presets.indices {
            presets[index].search = presets[index].search.map(self.changes.applied)
            for phase in presets[index].phases.indices { self.changes.apply(to: &presets[index].phases[phase]) }
        }
        return presets
    }
}

/// Numbers of a load that replace those of a preset.
struct LoadChanges: ParsableArguments {
    @Option(help: "Rooms.") var rooms: Int?
    @Option(help: "Members of each room.") var members: Int?
    @Option(help: "Members of each room that send previews.") var senders: Int?
    @Option(help: "Previews per second of each sender.") var rate: Double?
    @Option(help: "Commits per second, all connections together.") var commits: Double?
    @Option(help: "Members of each room that commit (default: those that send).") var committers: Int?
    @Option(help: "Idle connections.") var idle: Int?
    @Option(help: "Seconds of load before the measurement.") var warmUp: Double?
    @Option(help: "Seconds of the measurement.") var duration: Double?

    /// One with another load has no goals; a longer or shorter run has the same ones.
    func apply(to phase: inout Preset.Phase) {
        let load = self.applied(to: phase.load)
        (phase.load.warmUp, phase.load.duration) = (load.warmUp, load.duration)
        if load != phase.load { phase.goals = [] }
        phase.load = load
    }

    func applied(to load: Load) -> Load {
        var load = load
        load.rooms = self.rooms ?? load.rooms
        load.members = self.members ?? load.members
        load.senders = self.senders ?? load.senders
        load.rate = self.rate ?? load.rate
        load.commits = self.commits.map { $0 > 0 ? .steady($0) : .none } ?? load.commits
        load.committers = self.committers ?? load.committers
        load.idle = self.idle ?? load.idle
        load.warmUp = self.warmUp ?? load.warmUp
        load.duration = self.duration ?? load.duration
        return load
    }
}

extension Server: ExpressibleByArgument {
    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let pid = Int(parts[1]) else { return nil }
        self.init(name: String(parts[0]), pid: pid)
    }
}
