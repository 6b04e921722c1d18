internal import ArgumentParser
internal import Boot
internal import Wire

/// `touchsync trace`.
struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Shows the way of a traced commit through the daemons, from their logs.")

    @Argument(help: "The trace's id, or the traceparent that the app sent.", transform: TraceCommand.id)
    var trace: TraceID
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
            let report = TraceReport(self.trace, try files.lines(with: self.trace.description))
            guard !report.commits.isEmpty else {
                let place = self.logs.isEmpty ? DataFolder(self.data).log : self.logs.joined(separator: ", ")
                throw OperatorFailure(
                    "no line of the trace \(self.trace) is in \(place)\na commit is traced if its traceparent has the flag "
                        + "sampled (…-01), or by chance (trace-share); a gateway traces at most traces-per-second")
            }
            ProcessSetup.print(self.json ? String(decoding: report.json, as: UTF8.self) : report.text)
            return 0
        }
    }

    private static func id(_ text: String) throws -> TraceID {
        guard let id = TraceID(text) ?? TraceParent(text)?.id else {
            throw ValidationError("A trace's id has 32 lower-case hexadecimal digits, not all zero.")
        }
        return id
    }
}
