import Boot
import JSONBytes
import Testing
import Wire

@testable import OperatorDaemon

@Suite struct TraceReportTests {
    private static let trace = TraceID(high: 1, low: 2) ?? { preconditionFailure("not all zero") }()

    /// A line of a daemon's log, so many microseconds after a whole second.
    private func line(
        _ daemon: String, _ microseconds: Int, _ step: TraceStep, _ facts: String, trace: TraceID = trace
    ) -> String {
        let fraction = String("\(1_000_000 + microseconds)".dropFirst())
        return "2026-11-24T07:00:00.\(fraction)Z INFO \(daemon) \(step.rawValue) \(facts) trace.id=\(trace)"
    }

    private func commit(_ number: Int, _ more: String = "") -> String {
        "commit.n=\(number) commit.room=demo commit.session=s1\(more)"
    }

    private func update(_ seq: Int) -> String { "commit.room=demo commit.seq=\(seq) update.members=2" }

    private func report(_ lines: [String]) -> TraceReport { TraceReport(Self.trace, lines.map { Array($0.utf8) }) }

    /// All steps of a commit, 100 µs apart.
    private func whole(_ number: Int = 1, seq: Int = 1, from start: Int = 0) -> [String] {
        let commit = self.commit(number)
        let steps: [(String, TraceStep, String)] = [
            ("gateway-1", .accepted, commit + " commit.event=element:transform"), ("gateway-1", .sent, commit),
            ("coalescer-1", .forwarded, commit), ("committer-1", .received, commit),
            ("committer-1", .decided, commit + " commit.seq=\(seq)"),
            ("committer-1", .answered, commit + " commit.seq=\(seq)"), ("gateway-1", .acknowledged, commit),
            ("fanout-1", .applied, self.update(seq)), ("gateway-2", .delivered, self.update(seq)),
        ]
        return steps.enumerated().map { self.line($1.0, start + $0 * 100, $1.1, $1.2) }
    }

    @Test func theWayIsShownInOrderWhateverTheFilesOrder() throws {
        let report = self.report(self.whole().reversed())
        let commit = try #require(report.commits.first)
        #expect(report.commits.count == 1 && commit.lines.map(\.step) == TraceStep.allCases)
        #expect(commit.missing.isEmpty && commit.backwards == nil)
        let rows = report.text.split(separator: "\n")
        #expect(rows[0] == "element:transform, commit 1 of session s1 in room demo")
        #expect(rows[2] == "      0.000 ms    0.000 ms  commit accepted      gateway-1")
        #expect(rows[5] == "      0.300 ms    0.100 ms  commit received      committer-1")
        #expect(rows[10] == "      0.800 ms    0.100 ms  update delivered     gateway-2    seq 1, to members: 2")
        #expect(rows.count == 11)
    }

    @Test func everyCommitOfATraceHasItsOwnTable() {
        let other = self.line(
            "gateway-1", 50, .accepted, self.commit(9), trace: TraceID(high: 3, low: 4) ?? Self.trace)
        let report = self.report(self.whole(2, seq: 8, from: 450) + [other] + self.whole(1, seq: 7))
        #expect(report.commits.map { $0.fact(.number) } == ["1", "2"])
        #expect(report.commits.allSatisfy { $0.lines.count == 9 })
    }

    @Test func aMissingStepIsNamed() throws {
        let lines = self.whole().filter { !$0.contains("coalescer-1") && !$0.contains("update delivered") }
        let report = self.report(lines)
        #expect(try #require(report.commits.first).missing == [.forwarded, .delivered])
        #expect(report.text.contains("Not found: commit forwarded (coalescer), update delivered (gateway)."))
    }

    @Test func aCommitThatWentAroundTheCoalescerOrWasRefusedMissesNothing() {
        let around = self.whole().filter { !$0.contains("coalescer-1") }.map {
            $0.replacing("commit sent", with: "commit sent commit.path=committer")
        }
        #expect(self.report(around).commits[0].missing.isEmpty)
        let refused = self.whole().prefix(7).map {
            $0.replacing("commit.seq=1", with: "commit.refusal=locked")
        }
        #expect(self.report(Array(refused)).commits[0].missing.isEmpty)
    }

    @Test func clocksThatDifferAreNamedAndTheStepsStayInOrder() throws {
        let lines = self.whole().map { line in
            // The committer's clock is 5 ms ahead.
            line.contains("committer-1") ? line.replacing("00.000", with: "00.005") : line
        }
        let report = self.report(lines)
        let commit = try #require(report.commits.first)
        #expect(commit.lines.map(\.step) == TraceStep.allCases)
        #expect(commit.backwards?.difference == 4900)
        #expect(report.text.contains("Times run backwards from committer-1 to gateway-1"))
        #expect(report.text.contains("differ by 4.900 ms or more"))
    }

    @Test func anUpdateWhoseCommitIsNotInTheLogsIsShown() {
        let report = self.report(self.whole().suffix(2))
        #expect(report.text.hasPrefix("Update 1 of room demo, whose commit is in none of these logs\n"))
    }

    // MARK: All traces

    @Test func allTracesAreSummedUpStepByStep() throws {
        let slow = TraceID(high: 3, low: 4) ?? Self.trace
        var lines = (1...99).flatMap { self.whole($0, seq: $0) }
        // In another trace PostgreSQL takes 7 ms, and all that follows comes as much later.
        for line in self.whole(100, seq: 100) {
            let isLate = ["commit answered", "commit acknowledged", "update "].contains { line.contains($0) }
            lines.append(
                line.replacing(Self.trace.description, with: slow.description)
                    .replacing("00.000", with: isLate ? "00.007" : "00.000"))
        }
        let summary = TraceSummary(lines.map { Array($0.utf8) })
        #expect(summary.commits == 100 && summary.leftOut == 0)
        #expect(summary.rows.map(\.name).prefix(8) == TraceStep.allCases.dropFirst().map(\.rawValue)[...])
        let answered = try #require(summary.rows.first { $0.name == "commit answered" })
        #expect(answered.percentile(0.5) == 100 && answered.percentile(0.99) == 100 && answered.percentile(1) == 7100)
        #expect(answered.worst == slow)
        let delivered = try #require(summary.rows.last)
        #expect(delivered.name == "accepted to delivered" && delivered.times.count == 100)
        #expect(delivered.percentile(0.5) == 800 && delivered.percentile(1) == 7800)
        let rows = summary.text.split(separator: "\n")
        #expect(rows.count == 11)
        #expect(rows[5] == "commit answered               100  0.100 ms  0.100 ms  7.100 ms  \(slow)")
        var document = JSONDocument()
        try document.parse(summary.json)
        #expect(document.root["commits"]?.integer == 100)
        let steps = try #require(document.root["steps"]).elements.map { $0 }
        #expect(steps[4]["maxUs"]?.integer == 7100 && steps[4]["longestIn"]?.string == slow.description)
    }

    @Test func commitsInWhichTimeRunsBackwardsAreLeftOutOfTheSum() {
        let backwards = self.whole().map { line in
            line.contains("committer-1") ? line.replacing("00.000", with: "00.005") : line
        }
        let summary = TraceSummary(backwards.map { Array($0.utf8) })
        #expect(summary.commits == 0 && summary.leftOut == 1 && summary.rows.isEmpty)
        #expect(summary.text.hasSuffix("backwards in them: 1.\n"))
    }

    @Test func programsGetTheSame() throws {
        var document = JSONDocument()
        try document.parse(self.report(self.whole()).json)
        let commit = try #require(document.root["commits"]?.elements.first { _ in true })
        #expect(document.root["trace"]?.string == Self.trace.description)
        #expect(commit["n"]?.integer == 1 && commit["seq"]?.integer == 1 && commit["room"]?.string == "demo")
        let steps = try #require(commit["steps"]).elements.map { $0 }
        #expect(steps.compactMap { $0["step"]?.string } == TraceStep.allCases.map(\.rawValue))
        #expect(steps.last?["sinceAcceptedUs"]?.integer == 800)
    }

    // MARK: Files

    @Test func allFilesOfADataFolderAreReadInBothFormats() throws {
        let folder = TemporaryFolder()
        let data = DataFolder(folder.path)
        try data.prepare()
        let whole = self.whole()
        let json =
            #"{"time":"2026-11-24T07:00:00.000900Z","level":"info","name":"gateway-3","#
            + #""message":"update delivered","#
            + #""fields":{"commit.room":"demo","commit.seq":"1","trace.id":"\#(Self.trace)"}}"#
        for (name, lines) in [
            ("gateway-1.log", ["noise", whole[8]]), ("gateway-1.log.1", Array(whole[..<8])), ("gateway-3.log", [json]),
            ("notes", whole),
        ] {
            let text = lines.joined(separator: "\n") + "\n"
            #expect(FileBytes.create("\(data.log)/\(name)", with: Array(text.utf8)) == nil)
        }
        let report = TraceReport(Self.trace, try LogFiles(in: data).lines(with: Self.trace.description))
        #expect(report.commits.count == 1 && report.commits[0].lines.count == 10)
    }

    @Test func aLineIsFoundWhereverItsChunksEnd() throws {
        let folder = TemporaryFolder()
        let path = "\(folder.path)/a.log"
        // Chunks are 1 MiB: the line lies across the end of the first one, and the last one has no newline.
        let text = String(repeating: "x", count: (1 << 20) - 40) + "\n" + self.whole()[0] + "\n" + self.whole()[1]
        #expect(FileBytes.create(path, with: Array(text.utf8)) == nil)
        let lines = try LogFiles([path]).lines(with: Self.trace.description)
        #expect(lines == [Array(self.whole()[0].utf8), Array(self.whole()[1].utf8)])
    }

    @Test func aFolderWithoutLogsIsNamed() {
        let folder = TemporaryFolder()
        let failure = #expect(throws: OperatorFailure.self) { try LogFiles(in: DataFolder(folder.path)) }
        #expect(failure?.description.contains("\(folder.path)/log cannot be read") == true)
    }
}
