internal import JSONBytes
internal import OperatorTerminal
internal import Wire

/// Where the time of all traced commits goes: how long each step takes, and in which trace it took longest.
struct TraceSummary {
    /// The commits that count.
    private(set) var commits = 0
    /// Those that do not, because clocks of different machines differ by more than their steps took.
    private(set) var leftOut = 0
    /// In the order of the way, then the whole way to the app and to the members.
    private(set) var rows: [Row] = []

    /// The times of one step in all commits.
    struct Row: Equatable {
        let name: String
        /// Ascending, µs.
        let times: [Int64]
        /// The trace of the last one.
        let worst: TraceID

        /// The smallest time that a share of the commits did not exceed, µs.
        func percentile(_ share: Double) -> Int64 {
            self.times[max(0, Int((share * Double(self.times.count)).rounded(.up)) - 1)]
        }
    }

    /// - Parameter lines: lines of logs, of which those that are of no trace are left out.
    init(_ lines: [[UInt8]]) {
        let traces = Dictionary(grouping: lines.compactMap(TraceLine.init), by: \.trace)
        var times: [String: [(took: Int64, trace: TraceID)]] = [:]
        for (trace, lines) in traces {
            for commit in CommitTrace.commits(of: lines) {
                guard commit.backwards == nil else {
                    self.leftOut += 1
                    continue
                }
                self.commits += 1
                for (name, took) in Self.times(of: commit) { times[name, default: []].append((took, trace)) }
            }
        }
        self.rows = Self.names.compactMap { name in
            let sorted = times[name, default: []].sorted { $0.took < $1.took }
            guard let last = sorted.last else { return nil }
            return Row(name: name, times: sorted.map(\.took), worst: last.trace)
        }
    }

    private static let whole = [
        (name: "accepted to acknowledged", last: TraceStep.acknowledged), ("accepted to delivered", .delivered),
    ]
    private static let names = TraceStep.allCases.map(\.rawValue) + Self.whole.map(\.name)

    private static func times(of commit: CommitTrace) -> [(String, Int64)] {
        commit.steps.map { ($0.step.rawValue, $0.took) }
            + Self.whole.compactMap { name, last in commit.time(to: last).map { (name, $0) } }
    }

    /// A table.
    var text: String {
        var table = TextTable([
            .init("STEP"), .init("COMMITS", isRight: true), .init("P50", isRight: true), .init("P99", isRight: true),
            .init("MAX", isRight: true), .init("THE LONGEST IN TRACE"),
        ])
        for row in self.rows {
            let times = [row.percentile(0.5), row.percentile(0.99), row.percentile(1)].map(TraceReport.milliseconds)
            table.append(([row.name, "\(row.times.count)"] + times + [row.worst.description]).map { .init($0) })
        }
        return table.text() + self.note
    }

    private var note: String {
        guard self.leftOut > 0 else { return "" }
        return "Left out, because by their machines' clocks time runs backwards in them: \(self.leftOut).\n"
    }

    /// One line of JSON.
    var json: [UInt8] {
        JSONWriter.text { writer in
            writer.member("commits", self.commits)
            writer.member("leftOut", self.leftOut)
            writer.objects("steps", self.rows) { row, writer in
                writer.member("step", row.name)
                writer.member("commits", row.times.count)
                writer.member("p50Us", row.percentile(0.5))
                writer.member("p99Us", row.percentile(0.99))
                writer.member("maxUs", row.percentile(1))
                writer.member("longestIn", row.worst.description)
            }
        } + [UInt8(ascii: "\n")]
    }
}
