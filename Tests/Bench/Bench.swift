import Boot
import Glibc

/// A load generator for any server that speaks Socket.IO over WebSocket.
package enum Bench {
    /// Runs all loads and prints their reports.
    /// - Throws: ``BenchFailure`` when a load cannot be run.
    package static func run(_ options: BenchOptions) throws(BenchFailure) {
        let reports = try Self.reports(options) { report in
            if !options.json { ProcessSetup.print(TextReport.text(report)) }
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
        // Each connection needs a descriptor.
        ProcessSetup.prepare()
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
                target.takesBatches = options.takesBatches
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
            ProcessSetup.print(JSONReport.text(reports))
        } else if reports.contains(where: { !$0.named.goals.isEmpty }) {
            ProcessSetup.print(GoalTable.text(reports))
        }
        guard let file = options.svgFile else { return }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(descriptor) }
        guard descriptor >= 0, FileBytes.write(Array(LatencyChart.svg(reports).utf8), to: descriptor) else {
            throw BenchFailure("\(file) cannot be written")
        }
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
}
