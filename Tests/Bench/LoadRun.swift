import Boot

/// The connections of a load, and the phases that use them.
struct LoadRun {
    private let preset: String
    private let bench: Bench
    private let loop: LoadLoop
    /// Growth of all servers' memory while the idle connections were made, bytes.
    private let idleGrowth: Int64

    /// Makes all connections.
    init(_ preset: String, _ load: Load, _ bench: Bench) throws(BenchFailure) {
        self.preset = preset
        self.bench = bench
        var target = bench.target
        target.run = String(String(UInt64.random(in: 0...UInt64.max), radix: 36).suffix(8))
        self.loop = LoadLoop(load, target)
        try Self.connect(self.loop, load, bench, idle: false)
        var servers = bench.servers
        for index in servers.indices { servers[index].sample() }
        try Self.connect(self.loop, load, bench, idle: true)
        if load.idle > 0 { self.loop.run(for: 1) }
        for index in servers.indices { servers[index].sample() }
        self.idleGrowth = servers.reduce(0) { $0 + $1.memoryGrowth }
    }

    /// Connects the members or the idle connections and waits for all of them, as long as there are more and more.
    private static func connect(_ loop: LoadLoop, _ load: Load, _ bench: Bench, idle: Bool) throws(BenchFailure) {
        let wanted = idle ? load.connections : load.connections - load.idle
        loop.connect(idle: idle)
        while loop.liveCount < wanted {
            let before = loop.liveCount
            loop.run(for: bench.patience, until: wanted)
            if loop.liveCount <= before {
                throw BenchFailure("only \(loop.liveCount) of \(wanted) connections came about: \(loop.obstacle)")
            }
        }
    }

    /// Runs one phase.
    /// - Parameter isFirst: no load came before, so that the servers' memory says something about connections.
    func measure(_ phase: Preset.Phase, isFirst: Bool) -> Report {
        var report = Report(self.preset, phase)
        self.loop.beginSending(phase.load)
        self.eachSecond(of: phase.load.warmUp) {}
        report.servers = self.bench.servers
        report.sampleServers()
        self.loop.tally = Tally()
        let (began, thread) = (self.loop.now, threadTime())
        self.eachSecond(of: phase.load.duration) {
            report.elapsed = self.loop.now - began
            report.tally = self.loop.tally
            report.sampleServers()
        }
        let end = threadTime()
        report.ownLoad = Double(end.running - thread.running) / Double(report.elapsed)
        report.ownHunger = Double(end.waiting - thread.waiting) / Double(report.elapsed)
        report.live = self.loop.liveCount
        self.loop.beginSending(nil)
        for _ in 0..<2 where self.loop.outstandingCommits > 0 { self.loop.run(for: 1) }
        report.unanswered = self.loop.outstandingCommits
        report.failure = self.loop.failure
        if isFirst, phase.load.idle > 0, !report.servers.isEmpty {
            report.memoryPerIdle = Double(self.idleGrowth) / Double(phase.load.idle)
        }
        return report
    }

    /// Runs the loop for a number of seconds; calls `body` after each.
    private func eachSecond(of duration: Double, _ body: () -> Void) {
        let begin = self.loop.now
        for second in 0..<Int64(duration.rounded()) {
            self.loop.run(until: begin + (second + 1) * 1_000_000_000)
            body()
        }
    }
}
