package import ArgumentParser
import Glibc

/// `touchsync bench`.
package struct BenchCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Loads a server as many apps would, and reports how it does.",
        discussion: """
            Without options it loads http://127.0.0.1:8080 with 20 rooms × 10 members, 2 of each sending previews 60 \
            times a second. With --pid it watches the CPU time and memory of server processes on this machine.

            With --plain any Socket.IO server will do that acknowledges room:join {roomId} and sends every \
            element:transforming {roomId, …}, as it is, to the other members of that room. For loads with commits it \
            also sends every element:transform {roomId, …} to all members, as element:transformed, and acknowledges it.
            """)

    @Option(help: ArgumentHelp("Server address; may be repeated, connections are spread.", valueName: "url"))
    var url: [String] = []
    @Option(help: "The folder given to touchsync up: its addresses and processes.")
    var data: String?
    @Option(help: ArgumentHelp("A server process to watch; may be repeated.", valueName: "name=pid"))
    var pid: [String] = []
    @Option(help: "A token that allows every room, for servers that want one.")
    var token: String?
    @Flag(help: "The server is a plain Socket.IO server that relays the events.")
    var plain = false
    @Option(
        help: ArgumentHelp(
            "Loads by name: standard, \(BenchPreset.allCases.map(\.rawValue).joined(separator: ", ")). May be repeated.",
            valueName: "name"))
    var preset: [String] = []

    @Option(help: "Rooms.") var rooms: Int?
    @Option(help: "Members of each room.") var members: Int?
    @Option(help: "Members of each room that send previews.") var senders: Int?
    @Option(help: "Previews per second of each sender.") var rate: Double?
    @Option(help: "Commits per second, all together.") var commits: Double?
    @Option(help: "Members of each room that commit (default: those that send).") var committers: Int?
    @Option(help: "Commits of one connection without an answer. Without --commits: as many as are acknowledged.")
    var commitWindow: Int?
    @Option(help: "Commits per second of one connection at most, without --commits.") var commitsPerConnection: Double?
    @Option(help: "Further elements in every room.") var elements: Int?
    @Option(help: "Bytes of content in each element that is moved.") var elementBytes: Int?
    @Option(help: "Connections that only are there.") var idle: Int?
    @Option(help: "The part of each room's members that reads slowly, 0 to 1.") var slowShare: Double?
    @Option(help: "Bytes per second that a slow reader reads; 0: it never reads.") var slowBytes: Int?
    @Option(help: "Cut members off after so many seconds; they connect again at once.") var stormAfter: Double?
    @Option(help: "The part of the members that is cut off, 0 to 1.") var stormShare: Double?
    @Option(help: "Senders per room that overload takes for sustainable, instead of finding out.") var sustainable: Int?
    @Option(help: "Seconds over which connections are made.") var ramp: Double?
    @Option(help: "Seconds of sending before the measurement.") var warmUp: Double?
    @Option(help: "Seconds that are measured.") var duration: Double?

    @Flag(help: "Print JSON instead of text.") var json = false
    @Option(help: ArgumentHelp("Draw latencies over time into a file.", valueName: "file")) var svg: String?
    @Flag(help: "No progress lines.") var quiet = false

    package init() {}

    /// Runs on the process's first thread, which is all that it needs.
    package func run() throws {
        let options = try self.options()
        do throws(BenchFailure) {
            try Bench.run(options)
        } catch {
            Output.write("touchsync: \(error)\n", to: STDERR_FILENO)
            throw ExitCode(1)
        }
    }

    /// What the arguments say.
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
        options.token = self.token
        options.isPlain = self.plain
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

    /// A load with what the arguments say otherwise. One that is another load then has no goals.
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
