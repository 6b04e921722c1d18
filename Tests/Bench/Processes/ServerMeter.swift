/// Samples the server processes over one load.
struct ServerMeter: Sendable {
    private struct Entry {
        var process: WatchedProcess
        /// At the start of the measurement; nil while there is no process.
        var first: ProcessSample?
        var last: ProcessSample?
        var peakMemory: Int64 = 0
        var idleMemory: Int64 = 0
        var isGone = false
    }

    private var entries: [Entry]

    /// - Parameters:
    ///   - before, after: samples from before and after the idle connections were made.
    init(_ processes: [WatchedProcess], before: [ProcessSample?], after: [ProcessSample?]) {
        self.entries = processes.indices.map { index in
            var entry = Entry(process: processes[index])
            if let first = before[index], let then = after[index] { entry.idleMemory = then.memory - first.memory }
            entry.isGone = after[index] == nil
            entry.peakMemory = after[index]?.memory ?? 0
            return entry
        }
    }

    /// Starts the measurement.
    mutating func begin() {
        self.sample()
        for index in self.entries.indices { self.entries[index].first = self.entries[index].last }
    }

    /// Samples all processes.
    mutating func sample() {
        for index in self.entries.indices {
            guard let sample = ProcessSample.of(self.entries[index].process.pid) else {
                self.entries[index].isGone = true
                continue
            }
            self.entries[index].last = sample
            self.entries[index].peakMemory = max(self.entries[index].peakMemory, sample.memory)
        }
    }

    /// Resident memory of all processes at the last sample, bytes.
    var memory: Int64 { self.entries.reduce(0) { $0 + ($1.last?.memory ?? 0) } }

    /// CPU time of all processes since the start, microseconds.
    var cpu: Int64 { self.entries.reduce(0) { $0 + Self.cpu($1) } }

    private static func cpu(_ entry: Entry) -> Int64 {
        guard let first = entry.first, let last = entry.last else { return 0 }
        return max(0, last.cpu - first.cpu)
    }

    var servers: [BenchReport.Server] {
        self.entries.map { entry in
            var server = BenchReport.Server(entry.process)
            server.cpu = Self.cpu(entry)
            server.peakMemory = entry.peakMemory
            server.idleMemory = entry.idleMemory
            server.isGone = entry.isGone
            return server
        }
    }
}
