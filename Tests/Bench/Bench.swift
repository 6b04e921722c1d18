import Boot

/// A load generator for any server that speaks Socket.IO over WebSocket.
struct Bench: Sendable {
    var target: Target
    /// The processes whose CPU time and memory are reported.
    var servers: [Server] = []
    var presets: [Preset]
    /// The known number of sustainable senders per room, instead of searching for it.
    var sustainable: Int?
    /// Seconds without a further connection after which those that are missing are given up.
    var patience: Int64 = 15

    /// Runs all loads, one after the other, on the calling thread; shows each report as soon as it is complete.
    func run(_ show: (Report) -> Void = { _ in }) throws(BenchFailure) -> [Report] {
        for phase in self.presets.flatMap(\.phases) where !phase.load.isPossible {
            throw BenchFailure("not possible: \(phase.load)")
        }
        for var server in self.servers {
            server.sample()
            if server.memory == 0 {
                throw BenchFailure("no process \(server.pid), \(server.name), runs on this machine")
            }
        }
        // Each connection needs a descriptor.
        ProcessSetup.prepare()
        var reports: [Report] = []
        for preset in self.presets { try self.run(preset, into: &reports, show) }
        return reports
    }

    private func run(_ preset: Preset, into reports: inout [Report], _ show: (Report) -> Void) throws(BenchFailure) {
        var shared: LoadRun?
        var found = self.sustainable ?? 1
        if var attempt = preset.search {
            // The senders differ between phases, so every member is able to send.
            attempt.senders = attempt.members
            let run = try LoadRun(preset.name, attempt, self)
            for senders in self.sustainable == nil ? Preset.attempts : [] {
                attempt.senders = senders
                guard run.measure(Preset.Phase("search", attempt), isFirst: false).arrivedInTime else { break }
                found = senders
            }
            shared = run
        }
        for var phase in preset.phases {
            if phase.name == Preset.twiceTooMuch { phase.load.senders = min(phase.load.members, 2 * found) }
            let run = if let shared { shared } else { try LoadRun(preset.name, phase.load, self) }
            let report = run.measure(phase, isFirst: reports.isEmpty)
            reports.append(report)
            show(report)
        }
    }
}

/// Why a load cannot be run, for people.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
