package import ArgumentParser
internal import Boot

/// The load generator.
@main
package struct BenchCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Simulates the load of many apps on a server and reports its performance.",
        discussion: """
            Without options it loads http://127.0.0.1:8080 with 20 rooms × 10 members, 2 of each sending previews 60 \
            times a second. With --pid it watches the CPU time and memory of server processes on this machine.

            With --plain it works with any Socket.IO server that acknowledges room:join {roomId} and sends every \
            element:transforming {roomId, …}, unchanged, to the other members of that room. For loads with commits it \
            also sends every element:transform {roomId, …} to all members, as element:transformed, and acknowledges it.
            """)

    @Option(help: ArgumentHelp("Server address; may be repeated, connections are spread.", valueName: "url"))
    var url: [String] = []
    @Option(help: "The folder given to touchsync up: its addresses and processes.")
    var data: String?
    @Option(help: ArgumentHelp("A server process to watch; may be repeated.", valueName: "name=pid"))
    var pid: [String] = []
    @Flag(help: "The server is a plain Socket.IO server that relays the events.")
    var plain = false
    @Flag(help: "Ask for previews that leave together in one message, as the project's clients do.")
    var batches = false
    @Option(
        help: ArgumentHelp(
            "Loads by name: standard, \(BenchPreset.allCases.map(\.rawValue).joined(separator: ", ")). May be repeated.",
            valueName: "name"))
    var preset: [String] = []

    @Option(help: "Rooms.") var rooms: Int?
    @Option(help: "Members of each room.") var members: Int?
    @Option(help: "Members of each room that send previews.") var senders: Int?
    @Option(help: "Previews per second of each sender.") var rate: Double?
    @Option(help: "Commits per second, all connections together.") var commits: Double?
    @Option(help: "Members of each room that commit (default: those that send).") var committers: Int?
    @Option(help: "Unanswered commits per connection. Without --commits: the rate follows the acknowledgements.")
    var commitWindow: Int?
    @Option(help: "Maximum commits per second and connection, without --commits.") var commitsPerConnection: Double?
    @Option(help: "Further elements in every room.") var elements: Int?
    @Option(help: "Commits of groups per second, by the first members of all rooms together.") var groups: Double?
    @Option(help: "Elements of a group.") var groupElements: Int?
    @Option(help: "Previews of a gesture before its commit; senders then send what their fingers did.")
    var gesturePreviews: Int?
    @Option(help: "Senders of each room that move a group with their gestures.") var gestureGroups: Int?
    @Option(help: "Bytes of content in each moved element.") var elementBytes: Int?
    @Option(help: "Idle connections.") var idle: Int?
    @Option(help: "Share of each room's members that reads slowly, 0 to 1.") var slowShare: Double?
    @Option(help: "Bytes per second that a slow reader reads; 0: it never reads.") var slowBytes: Int?
    @Option(help: "Seconds after which members are cut off; they reconnect immediately.") var stormAfter: Double?
    @Option(help: "Share of the members that is cut off, 0 to 1.") var stormShare: Double?
    @Option(help: "Sustainable senders per room for overload, instead of searching.") var sustainable: Int?
    @Option(help: "Seconds over which connections are made.") var ramp: Double?
    @Option(help: "Seconds of load before the measurement.") var warmUp: Double?
    @Option(help: "Seconds of the measurement.") var duration: Double?

    @Flag(help: "Print JSON instead of text.") var json = false
    @Option(help: ArgumentHelp("Write a chart of latencies over time to a file.", valueName: "file")) var svg: String?
    @Flag(help: "No progress lines.") var quiet = false

    package init() {}

    /// Runs on the process's main thread; no other thread is needed.
    package func run() throws {
        let options = try self.options()
        do throws(BenchFailure) {
            try Bench.run(options)
        } catch {
            ProcessSetup.complain("bench: \(error)\n")
            throw ExitCode(1)
        }
    }

    /// The options from the arguments.
    package func options() throws -> BenchOptions {
        var options = BenchOptions()
        options.urls = self.url
        options.dataFolder = self.data
        options.processes = try self.pid.map { text in
            guard let process = WatchedProcess(text) else {
                throw ValidationError("--pid \(text) is not name=pid, such as server=1234")
            }
            return process
        }
        options.token = ProcessSetup.environment()["TOUCHSYNC_TOKEN"]
        options.isPlain = self.plain
        options.takesBatches = self.batches
        options.json = self.json
        options.svgFile = self.svg
        options.isQuiet = self.quiet
        options.sustainable = self.sustainable
        options.loads = try self.loads()
        return options
    }

    private func loads() throws -> [NamedLoad] {
        let presets = try self.preset.flatMap { name in
            if name == "standard" { return BenchPreset.standard }
            guard let preset = BenchPreset(rawValue: name) else { throw ValidationError("there is no preset \(name)") }
            return [preset]
        }
        let named = presets.isEmpty ? [NamedLoad("load", Load())] : presets.flatMap(\.phases)
        return named.map { self.adjusted($0) }
    }

    /// A load with the arguments applied. A load that differs from the preset has no goals.
    private func adjusted(_ named: NamedLoad) -> NamedLoad {
        var load = named.load
        if let rooms { load.rooms = rooms }
        if let members { load.members = members }
        if let senders { load.senders = senders }
        if let rate { load.rate = rate }
        if let commits { load.commitRate = commits }
        if let committers { load.committers = committers }
        if let commitWindow { load.commitWindow = commitWindow }
        if let commitsPerConnection { load.commitsPerConnection = commitsPerConnection }
        if let elements { load.elements = elements }
        if let groups { load.groupRate = groups }
        if let groupElements { load.groupElements = groupElements }
        if let gesturePreviews { load.gesturePreviews = gesturePreviews }
        if let gestureGroups { load.gestureGroups = gestureGroups }
        if let elementBytes { load.elementBytes = elementBytes }
        if let idle { load.idle = idle }
        if let slowShare { load.slowShare = slowShare }
        if let slowBytes { load.slowBytes = slowBytes }
        if let stormAfter { load.stormAfter = stormAfter }
        if let stormShare { load.stormShare = stormShare }
        let isSame = load == named.load
        if let ramp { load.ramp = ramp }
        if let warmUp { load.warmUp = warmUp }
        if let duration { load.duration = duration }
        var adjusted = named
        adjusted.load = load
        if !isSame { adjusted.goals = [] }
        return adjusted
    }
}
