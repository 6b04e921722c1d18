import Boot
import Glibc
import JSONBytes

/// A server process, and what it used while a load was measured.
struct Server: Sendable {
    let name: String
    let pid: Int
    /// User and system time of all its threads, including ended ones, and resident memory, bytes: at the first sample and
    /// at the last one.
    private var first: (cpu: Int64, memory: Int64)?
    private(set) var last: (cpu: Int64, memory: Int64) = (0, 0)
    /// The largest resident memory seen, bytes.
    private(set) var peakMemory: Int64 = 0

    init(name: String, pid: Int) {
        self.name = name
        self.pid = pid
    }

    /// Microseconds between the first and the last sample.
    var cpu: Int64 { self.last.cpu - (self.first?.cpu ?? 0) }
    var memory: Int64 { self.last.memory }
    var memoryGrowth: Int64 { self.last.memory - (self.first?.memory ?? 0) }

    /// Samples the process now.
    mutating func sample() {
        let stat = (try? FileBytes.read("/proc/\(self.pid)/stat").get()) ?? []
        guard let sample = Self.sample(stat) else { return }
        if self.first == nil { self.first = sample }
        self.last = sample
        self.peakMemory = max(self.peakMemory, sample.memory)
    }

    /// Reads `/proc/<pid>/stat` (proc(5)): fields 14 and 15 are the times in ticks, 24 the resident pages.
    static func sample(_ stat: [UInt8]) -> (cpu: Int64, memory: Int64)? {
        // The second field, the name in parentheses, may contain anything, parentheses and blanks too.
        guard let bracket = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = numbers(stat[(bracket + 1)...])
        guard fields.count > 21, let user = fields[11], let system = fields[12], let pages = fields[21] else {
            return nil
        }
        let ticks = Int64(sysconf(Int32(_SC_CLK_TCK)))
        return ((user + system) * 1_000_000 / ticks, pages * Int64(sysconf(Int32(_SC_PAGESIZE))))
    }

    /// The addresses and daemons of the pipeline that runs in a data folder, from its state file:
    /// `{"urls":["http://…"],"processes":[{"stage":"gateway","name":"gateway-1","pid":123,…}]}`.
    static func pipeline(in folder: String) throws(BenchFailure) -> (urls: [String], servers: [Server]) {
        var document = JSONDocument()
        guard let bytes = try? FileBytes.read("\(folder)/run/state.json").get(), (try? document.parse(bytes)) != nil,
            let urls = document.root["urls"], let processes = document.root["processes"]
        else { throw BenchFailure("no pipeline runs in \(folder), or it is still starting") }
        // The monitor serves no app.
        let servers = processes.elements.filter { $0["stage"]?.string != "monitor" }.compactMap { entry in
            entry["pid"]?.integer.map { Server(name: entry["name"]?.string ?? "", pid: Int(clamping: $0)) }
        }
        return (urls.elements.compactMap(\.string), servers)
    }
}

/// How long the calling thread was on a core so far, and how long it was ready but had none, nanoseconds; from
/// `/proc/thread-self/schedstat` (Documentation/scheduler/sched-stats of Linux).
func threadTime() -> (running: Int64, waiting: Int64) {
    let fields = numbers(((try? FileBytes.read("/proc/thread-self/schedstat").get()) ?? [])[...])
    return fields.count > 1 ? (fields[0] ?? 0, fields[1] ?? 0) : (0, 0)
}

private func numbers(_ text: ArraySlice<UInt8>) -> [Int64?] {
    text.split(separator: UInt8(ascii: " ")).map { Int64(String(decoding: $0, as: UTF8.self)) }
}
