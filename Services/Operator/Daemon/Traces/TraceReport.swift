internal import JSONBytes
internal import OperatorTerminal
internal import Wire

/// What the logs have of a trace: the output of `touchsync trace`.
struct TraceReport {
    let trace: TraceID
    let commits: [CommitTrace]

    /// - Parameter lines: lines of logs, of which those that are not of the trace are left out.
    init(_ trace: TraceID, _ lines: [[UInt8]]) {
        self.trace = trace
        self.commits = CommitTrace.commits(of: lines.compactMap(TraceLine.init).filter { $0.trace == trace })
    }

    // MARK: For people

    /// A table for each commit, and what is wrong with it.
    var text: String { self.commits.map { Self.text(of: $0) }.joined(separator: "\n") }

    private static func text(of commit: CommitTrace) -> String {
        var text = "\(Self.title(of: commit))\n"
        var before = commit.start
        var table = TextTable([
            .init("SINCE ACCEPTED", isRight: true), .init("SINCE LAST", isRight: true), .init("STEP"),
            .init("DAEMON", limit: 64), .init("", limit: 200),
        ])
        for line in commit.lines {
            let facts = Self.shown.compactMap { fact, name in line.facts[fact].map { "\(name) \($0)" } }
            let cells = [
                Self.milliseconds(line.time - commit.start), Self.milliseconds(line.time - before), line.step.rawValue,
                line.daemon, facts.joined(separator: ", "),
            ]
            table.append(cells.map { .init($0) })
            before = line.time
        }
        text += table.text()
        return text + Self.notes(on: commit).map { "\($0)\n" }.joined()
    }

    private static func title(of commit: CommitTrace) -> String {
        let room = commit.fact(.room) ?? "?"
        guard let session = commit.fact(.session), let number = commit.fact(.number) else {
            return "Update \(commit.fact(.seq) ?? "?") of room \(room), whose commit is in none of these logs"
        }
        let event = commit.fact(.event).map { "\($0), " } ?? ""
        return "\(event)commit \(number) of session \(session) in room \(room)"
    }

    /// What is shown beside a step, and how.
    private static let shown: [(TraceFact, String)] = [
        (.path, "to the"), (.batch, "in a batch of"), (.seq, "seq"), (.refusal, "refused:"),
        (.gateways, "to gateways:"), (.members, "to members:"),
    ]

    /// A span of µs: `1.204 ms`.
    static func milliseconds(_ microseconds: Int64) -> String {
        let fraction = String("\(1000 + microseconds.magnitude % 1000)".dropFirst())
        return "\(microseconds < 0 ? "-" : "")\(microseconds.magnitude / 1000).\(fraction) ms"
    }

    private static func notes(on commit: CommitTrace) -> [String] {
        var notes: [String] = []
        if let backwards = commit.backwards {
            notes.append(
                "Times run backwards from \(backwards.former.daemon) to \(backwards.latter.daemon): the clocks of their "
                    + "machines differ by \(Self.milliseconds(backwards.difference)) or more, and so the steps are listed "
                    + "in their order, not in that of their times.")
        }
        let missing = commit.missing
        if !missing.isEmpty {
            let steps = missing.map { "\($0.rawValue) (\($0.stage))" }.joined(separator: ", ")
            notes.append(
                "Not found: \(steps). Either it did not come that far, or that daemon's log is not among these files, "
                    + "no longer kept, or without lines of level info.")
            if missing.contains(.delivered) { notes.append("A room without members is delivered to nobody.") }
        }
        return notes
    }

    // MARK: For programs

    /// One line of JSON.
    var json: [UInt8] {
        JSONWriter.text { writer in
            writer.member("trace", self.trace.description)
            writer.objects("commits", self.commits) { commit, writer in
                writer.member("room", ifPresent: commit.fact(.room))
                writer.member("session", ifPresent: commit.fact(.session))
                writer.member("n", ifPresent: commit.fact(.number).flatMap { Int($0) })
                writer.member("event", ifPresent: commit.fact(.event))
                writer.member("seq", ifPresent: commit.fact(.seq).flatMap { Int($0) })
                writer.member("refusal", ifPresent: commit.fact(.refusal))
                writer.objects("steps", commit.lines) { line, writer in
                    writer.member("step", line.step.rawValue)
                    writer.member("daemon", line.daemon)
                    writer.member("sinceAcceptedUs", line.time - commit.start)
                    for (fact, value) in line.facts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                        writer.key(string: fact.rawValue)
                        writer.value(value)
                    }
                }
                writer.member("missing", commit.missing.map(\.rawValue))
                writer.member("clocksDifferByUs", ifPresent: commit.backwards?.difference)
            }
        } + [UInt8(ascii: "\n")]
    }
}
