/// A report as text for people.
package enum TextReport {
    /// The report of one load; one line for an attempt.
    package static func text(_ report: BenchReport) -> String {
        if report.named.isAttempt { return Self.attempt(report) }
        var text = "\(report.named.title): \(Self.description(report.load))\n"
        text += Self.counts(report)
        text += Self.latencies(report)
        text += Self.servers(report)
        text += Self.own(report)
        return text + "\n"
    }

    private static func attempt(_ report: BenchReport) -> String {
        var text = "\(report.named.title): \(Figures.grouped(report.deliveriesPerSecond)) deliveries/s,"
        text += " preview age p99 \(Figures.milliseconds(report.previewAge.p99)) ms,"
        text += " \(Figures.grouped(report.tally.previewsFolded)) merged"
        return text + (report.arrivedInTime ? "\n" : ": too much\n\n")
    }

    /// One line that describes a load.
    package static func description(_ load: Load) -> String {
        var parts: [String] = []
        if load.rooms > 0 { parts.append("\(load.rooms) rooms × \(load.members) members") }
        if load.rooms > 0, load.senders > 0, load.rate > 0 {
            parts.append("\(load.senders) senders each at \(Figures.short(load.rate)) Hz")
            if load.gesturePreviews > 0 {
                parts.append("gestures of \(load.gesturePreviews) previews, \(load.gestureGroups) each of groups")
            }
        }
        if load.committersPerRoom > 0 {
            let rate = load.commitRate > 0 ? "\(Figures.grouped(load.commitRate))" : "as many as are acknowledged,"
            parts.append("\(rate) commits/s from \(load.committersPerRoom) each")
        }
        if load.slowPerRoom > 0 { parts.append("\(load.slowPerRoom) slow each at \(load.slowBytes) B/s") }
        if load.elementBytes > 0 { parts.append("elements of \(Figures.bytes(Double(load.elementBytes)))") }
        if load.elements > 0 { parts.append("\(load.elements) elements more each") }
        if load.idle > 0 { parts.append("\(Figures.grouped(load.idle)) idle") }
        return parts.joined(separator: ", ")
    }

    private static func counts(_ report: BenchReport) -> String {
        let tally = report.tally
        let seconds = max(1e-6, Double(report.elapsed) / 1e6)
        func rate(_ count: Int) -> String { "\(Figures.short(Double(count) / seconds))/s" }
        var rows: [[String]] = []
        if tally.previewsSent + tally.previewsDelivered > 0 {
            let lost = report.expectedPreviews - tally.previewsDelivered - tally.previewsFolded
            rows.append(["previews sent", Figures.grouped(tally.previewsSent), rate(tally.previewsSent)])
            rows.append([
                "previews delivered", Figures.grouped(tally.previewsDelivered), rate(tally.previewsDelivered),
                "of \(Figures.grouped(report.expectedPreviews))", "\(Figures.grouped(tally.previewsFolded)) merged",
                "\(Figures.grouped(max(0, lost))) missing or under way",
            ])
        }
        if tally.commitsSent + tally.commitsDelivered > 0 {
            rows.append(["commits sent", Figures.grouped(tally.commitsSent), rate(tally.commitsSent)])
            rows.append([
                "commits acknowledged", Figures.grouped(tally.commitsApplied), rate(tally.commitsApplied),
                "\(Figures.grouped(report.unanswered)) unanswered", "\(Figures.grouped(tally.heldCommits)) held back",
            ])
            rows.append(["commits delivered", Figures.grouped(tally.commitsDelivered), rate(tally.commitsDelivered)])
        }
        let refusals = Answer.Code.allCases.compactMap { code in
            tally.refusals[code].map { "\(Figures.grouped($0)) \(code.rawValue)" }
        }
        if !refusals.isEmpty { rows.append(["commits refused"] + refusals) }
        if report.load.slowPerRoom > 0 {
            var row = ["to slow readers", Figures.grouped(tally.slowDelivered), rate(tally.slowDelivered)]
            if let resynced = report.slowMembers { row.append("\(Figures.grouped(resynced)) had to join again") }
            rows.append(row)
        }
        if tally.cuts > 0 {
            rows.append(["connections lost", Figures.grouped(tally.cuts), "\(tally.slowCuts) of slow readers"])
        }
        rows.append([
            "bytes", "\(Figures.bytes(Double(tally.bytesIn) / seconds))/s in",
            "\(Figures.bytes(Double(tally.bytesOut) / seconds))/s out",
        ])
        rows.append(["connections", Figures.grouped(report.live)])
        return Figures.table(rows)
    }

    private static func latencies(_ report: BenchReport) -> String {
        let all: [(String, LatencySummary)] = [
            ("preview age", report.previewAge), ("commit to ack", report.acknowledgement),
            ("group to ack", report.groupAcknowledgement),
            ("commit to screen", report.screen), ("join after a storm", report.rejoin),
        ]
        let rows = all.filter { $1.count > 0 }.map { name, summary in
            [name] + [summary.p50, summary.p95, summary.p99, summary.max].map(Figures.milliseconds)
        }
        return rows.isEmpty ? "" : Figures.table([["ms", "p50", "p95", "p99", "max"]] + rows)
    }

    private static func servers(_ report: BenchReport) -> String {
        guard let total = report.serverCPU else { return "" }
        let tally = report.tally
        func per(_ cpu: Int64, _ count: Int) -> String { count > 0 ? Figures.short(Double(cpu) / Double(count)) : "-" }
        func share(_ cpu: Int64) -> String {
            "\(Figures.decimal(Double(cpu) * 100 / Double(max(1, report.elapsed)), 1)) %"
        }
        var rows = [["server", "CPU s", "of a core", "µs/delivery", "µs/commit", "peak memory"]]
        for server in report.servers {
            rows.append([
                server.name + (server.isGone ? " (gone)" : ""), Figures.decimal(Double(server.cpu) / 1e6, 2),
                share(server.cpu), per(server.cpu, tally.previewsDelivered), per(server.cpu, tally.commitsApplied),
                Figures.bytes(Double(server.peakMemory)),
            ])
        }
        rows.append([
            "all", Figures.decimal(Double(total) / 1e6, 2), share(total), per(total, tally.previewsDelivered),
            per(total, tally.commitsApplied), Figures.bytes(Double(report.servers.reduce(0) { $0 + $1.peakMemory })),
        ])
        var text = Figures.table(rows)
        if let growth = report.memoryGrowth, let first = report.seconds.first, let last = report.seconds.last {
            text += "  memory of all from \(Figures.bytes(Double(first.memory))) after the first second"
            text += " to \(Figures.bytes(Double(last.memory))) at the end: × \(Figures.short(growth))\n"
        }
        if let memory = report.memoryPerIdle {
            text += "  \(Figures.bytes(memory)) for each idle connection, if the servers were fresh\n"
        }
        return text
    }

    private static func own(_ report: BenchReport) -> String {
        let share = Double(report.ownCPU) * 100 / Double(max(1, report.elapsed))
        var text = "  this program: \(Figures.decimal(Double(report.ownCPU) / 1e6, 2)) CPU s"
        text += " (\(Figures.decimal(share, 1)) % of a core"
        if let servers = report.serverCPU, servers > 0 {
            text += ", \(Figures.decimal(Double(report.ownCPU) * 100 / Double(servers), 0)) % of the servers' time"
        }
        text += ")"
        if report.lateness.count > 0 {
            text += ", sends late by \(Figures.milliseconds(report.lateness.p50)) ms (p50),"
            text += " \(Figures.milliseconds(report.lateness.p99)) ms (p99)"
        }
        if report.ownHunger > 0.01 {
            text += ", without a core for \(Figures.decimal(report.ownHunger * 100, 1)) % of the time"
        }
        text += "\n"
        for omission in report.omissions { text += "  MISSING FROM THE SERVER: \(omission)\n" }
        for reason in report.bottlenecks { text += "  THIS PROGRAM WAS THE BOTTLENECK: \(reason)\n" }
        if let failure = report.failure { text += "  last failure: \(failure)\n" }
        return text
    }
}
