internal import ArgumentParser
internal import Boot
internal import Wire

/// `touchsync trace`.
struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Shows a traced commit's way through the daemons, or where the time of all goes, from their logs.")

    @Argument(
        help: "The trace's id, or the traceparent that the app sent; without one all traces are summed up.",
        transform: TraceCommand.id)
    var trace: TraceID?
    @Option(help: "The data folder of touchsync up, whose logs are read.")
    var data = ".touchsync"
    @Option(
        parsing: .upToNextOption,
        help: "Log files of any daemons instead, such as those of several machines; /dev/stdin for a pipe.")
    var logs: [String] = []
    @Flag(help: "Print one line of JSON.")
    var json = false

    func run() throws {
        try TouchSyncCommand.running {
            let files = self.logs.isEmpty ? try LogFiles(in: DataFolder(self.data)) : LogFiles(self.logs)
            let (text, json) = try self.trace.map { try self.way(of: $0, files) } ?? self.summary(files)
            ProcessSetup.print(self.json ? String(decoding: json, as: UTF8.self) : text)
            return 0
        }
    }

    private func way(of trace: TraceID, _ files: LogFiles) throws(OperatorFailure) -> (text: String, json: [UInt8]) {
        let report = TraceReport(trace, try files.lines(with: trace.description))
        guard !report.commits.isEmpty else { throw self.nothing("the trace \(trace)") }
        return (report.text, report.json)
    }

    private func summary(_ files: LogFiles) throws(OperatorFailure) -> (text: String, json: [UInt8]) {
        let summary = TraceSummary(try files.lines(with: TraceMark.key))
        guard summary.commits + summary.leftOut > 0 else { throw self.nothing("any trace") }
        return (summary.text, summary.json)
    }

    private func nothing(_ wanted: String) -> OperatorFailure {
        let place = self.logs.isEmpty ? DataFolder(self.data).log : self.logs.joined(separator: ", ")
        return OperatorFailure(
            "no line of \(wanted) is in \(place)\na commit is traced if its traceparent has the flag sampled (…-01), or by "
                + "chance (trace-share); a gateway traces at most traces-per-second")
    }

    private static func id(_ text: String) throws -> TraceID {
        guard let id = TraceID(text) ?? TraceParent(text)?.id else {
            throw ValidationError("A trace's id has 32 lower-case hexadecimal digits, not all zero.")
        }
        return id
    }
}
