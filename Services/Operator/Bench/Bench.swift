import Glibc

/// `touchsync bench`: a load generator for any server that speaks Socket.IO over WebSocket.
package enum Bench {
    /// Runs all loads and prints their reports.
    /// - Throws: ``BenchFailure`` when a load cannot be run.
    package static func run(_ options: BenchOptions) throws(BenchFailure) {
        let reports = try Self.reports(options) { report in
            if !options.json { Output.write(TextReport.text(report), to: STDOUT_FILENO) }
        }
        try Self.finish(options, reports)
    }

    /// Runs all loads on the calling thread.
    /// - Parameter tell: called with each report as soon as it is complete.
    package static func reports(
        _ options: BenchOptions, tell: (BenchReport) -> Void = { _ in }
    ) throws(BenchFailure) -> [BenchReport] {
        let pipeline = try Self.pipeline(options)
        let urls = options.urls.isEmpty ? pipeline?.urls ?? ["http://127.0.0.1:8080"] : options.urls
        let addresses = try urls.map { url throws(BenchFailure) in
            guard let address = ServerAddress(url) else {
                throw BenchFailure("\(url) is no http:// or ws:// address (TLS is not spoken)")
            }
            return address
        }
        try Self.check(options)
        Self.raiseDescriptorLimit()
        let processes = options.processes + (pipeline?.processes ?? [])
        var sequence = LoadSequence(options.loads, sustainable: options.sustainable)
        var reports: [BenchReport] = []
        var run: LoadRun?
        while let named = sequence.next(after: reports.last) {
            let goesOn = named.continues || reports.last?.named.isAttempt == true && named.isAttempt
            if run == nil || !goesOn {
                run = nil
                var target = Target(addresses: addresses, token: options.token, run: Self.runName())
                target.isPlain = options.isPlain
                run = try LoadRun(named.title, sequence.crowd(of: named), target, processes, options)
            }
            guard var report = run?.measure(named) else { continue }
            report.followsAnother = !reports.isEmpty
            reports.append(report)
            tell(report)
        }
        return reports
    }

    /// - Throws: a ``BenchFailure`` for invalid loads and for processes that do not exist.
    private static func check(_ options: BenchOptions) throws(BenchFailure) {
        for named in options.loads {
            if let problem = named.load.problem { throw BenchFailure("\(named.name): \(problem)") }
        }
        for process in options.processes where ProcessSample.of(process.pid) == nil {
            throw BenchFailure("no process \(process.pid), \(process.name), runs on this machine")
        }
    }

    private static func finish(_ options: BenchOptions, _ reports: [BenchReport]) throws(BenchFailure) {
        if options.json {
            Output.write(JSONReport.text(reports), to: STDOUT_FILENO)
        } else if reports.contains(where: { !$0.named.goals.isEmpty }) {
            Output.write(GoalTable.text(reports), to: STDOUT_FILENO)
        }
        if let file = options.svgFile { try Output.file(file, LatencyChart.svg(reports)) }
    }

    private static func pipeline(_ options: BenchOptions) throws(BenchFailure) -> RunningPipeline? {
        guard let folder = options.dataFolder else { return nil }
        guard let pipeline = RunningPipeline.read(folder: folder) else {
            throw BenchFailure("no pipeline runs in \(folder), or it is still starting")
        }
        return pipeline
    }

    /// Eight random letters and digits that identify the run.
    private static func runName() -> String {
        let text = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return String(text.suffix(8))
    }

    /// Each connection needs a descriptor.
    private static func raiseDescriptorLimit() {
        signal(SIGPIPE, SIG_IGN)
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(kind, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(kind, &limit)
    }
}
