/// Reports for people.
extension Report {
    var text: String { "\(self.title): \(self.load)\n\(self.counts)\(self.latencies)\(self.cpu)\(self.own)\n" }

    /// The numbers of the load that are not zero.
    private var load: String {
        Mirror(reflecting: self.phase.load).children.map { ($0.label ?? "", "\($0.value)") }
            .filter { !["0", "0.0", "nil", "none"].contains($1) }.map { "\($0) \($1)" }.joined(separator: ", ")
    }

    private var counts: String {
        let tally = self.tally
        let lost = max(0, self.expectedPreviews - tally.previewsDelivered - tally.previewsFolded)
        let refused = tally.refusals.sorted { $0.key < $1.key }.map { ("commits refused: \($0)", $1) }
        let counts =
            [
                ("previews sent", tally.previewsSent), ("previews delivered", tally.previewsDelivered),
                ("previews merged", tally.previewsFolded), ("previews missing or under way", lost),
                ("commits sent", tally.commitsSent), ("commits acknowledged", tally.commitsApplied),
                ("commits unanswered", self.unanswered), ("commits held back", tally.heldCommits),
            ] + refused + [
                ("commits delivered", tally.commitsDelivered), ("to slow readers", tally.slowDelivered),
                ("connections lost", tally.cuts), ("of slow readers", tally.slowCuts),
                ("sends left out", tally.missedSends), ("KiB received", tally.bytesIn >> 10),
                ("KiB sent", tally.bytesOut >> 10),
            ]
        let rows = counts.filter { $1 > 0 }.map { [$0, "\($1)", "\(Number.short(self.perSecond($1)))/s"] }
        return Number.table(rows + [["connections", "\(self.live)"]])
    }

    private var latencies: String {
        let all = [
            ("preview age", self.tally.previewAge), ("commit to ack", self.tally.acknowledgement),
            ("group to ack", self.tally.groupAcknowledgement), ("commit to screen", self.tally.screen),
            ("lateness of sends", self.tally.lateness),
        ]
        let rows = all.filter { $1.count > 0 }.map { name, latencies in
            [name] + [50, 95, 99, 100].map { latencies.milliseconds($0).map(Number.short) ?? "-" }
        }
        return rows.isEmpty ? "" : Number.table([["ms", "p50", "p95", "p99", "max"]] + rows)
    }

    private var cpu: String {
        func row(_ name: String, _ servers: [Server]) -> [String] {
            let cpu = servers.reduce(0) { $0 + $1.cpu }
            func per(_ count: Int) -> String { count > 0 ? Number.short(Double(cpu) / Double(count)) : "-" }
            return [
                name, Number.short(Double(cpu) / 1e6), "\(Number.short(self.perSecond(Int(cpu)) / 1e4)) %",
                per(self.tally.previewsDelivered), per(self.tally.commitsApplied),
                Number.short(Double(servers.reduce(0) { $0 + $1.peakMemory }) / 1_048_576),
            ]
        }
        guard !self.servers.isEmpty else { return "" }
        let head = ["server", "CPU s", "of a core", "µs/delivery", "µs/commit", "peak MiB"]
        let rows = self.servers.map { row($0.name, [$0]) }
        return Number.table([head] + rows + [row("all", self.servers)])
            + (self.memoryGrowth.map { "  memory at the end ÷ after the first second: \(Number.short($0))\n" } ?? "")
            + (self.memoryPerIdle.map { "  KiB for an idle connection, if fresh: \(Number.short($0 / 1024))\n" } ?? "")
    }

    private var own: String {
        var text = "  this program: \(Number.short(self.ownLoad * 100)) % of a core,"
        text += " without a core for \(Number.short(self.ownHunger * 100)) % of the time\n"
        for omission in self.omissions { text += "  MISSING FROM THE SERVER: \(omission)\n" }
        for reason in self.bottlenecks { text += "  THIS PROGRAM WAS THE BOTTLENECK: \(reason)\n" }
        return text + (self.failure.map { "  last failure: \($0)\n" } ?? "")
    }

    /// The goals of all reports beside what was measured; empty without any.
    static func goals(_ reports: [Report]) -> String {
        let rows = reports.flatMap { report in
            report.phase.goals.map { goal in
                let doubt = report.bottlenecks.isEmpty ? "" : ", by this program itself?"
                let verdict = goal.isMet(by: report, among: reports).map { $0 ? "met" : "missed\(doubt)" }
                return [
                    report.title, goal.title, goal.value(in: report, among: reports).map(Number.short) ?? "-",
                    "\(goal.metric.wantsMore ? "≥" : "≤") \(Number.short(goal.bound))", verdict ?? "not measured",
                ]
            }
        }
        return rows.isEmpty ? "" : Number.table([["load", "figure", "measured", "goal", ""]] + rows, toTheLeft: 2)
    }
}

/// Numbers for people.
enum Number {
    /// Three digits that count: 0.123, 1.23, 12.3, 1234.
    static func short(_ value: Double) -> String {
        guard value.magnitude < 100 else { return "\(Int(exactly: value.rounded()) ?? 0)" }
        let scale: Double = value.magnitude < 1 ? 1000 : value.magnitude < 10 ? 100 : 10
        return "\((value * scale).rounded() / scale)"
    }

    /// Rows with aligned columns, the first ones to the left, the others to the right.
    static func table(_ rows: [[String]], toTheLeft: Int = 1) -> String {
        let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                return column >= toTheLeft ? blanks + cell.0 : column + 1 < row.count ? cell.0 + blanks : cell.0
            }
            return "  \(cells.joined(separator: "  "))\n"
        }.joined()
    }
}
