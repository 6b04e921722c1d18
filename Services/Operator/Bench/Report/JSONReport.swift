import JSONBytes

/// Reports as one line of JSON: `{"loads":[…]}`. Times are microseconds where a name says so, else seconds.
package enum JSONReport {
    package static func text(_ reports: [BenchReport]) -> String {
        var writer = JSONWriter(reserving: 8192)
        writer.beginObject()
        writer.key("loads")
        writer.beginArray()
        for report in reports {
            writer.beginObject()
            Self.load(report, into: &writer)
            Self.counts(report, into: &writer)
            report.previewAge.write("previewAge", into: &writer)
            report.acknowledgement.write("commitAck", into: &writer)
            report.screen.write("commitToScreen", into: &writer)
            report.rejoin.write("rejoin", into: &writer)
            Self.servers(report, into: &writer)
            Self.own(report, into: &writer)
            Self.seconds(report, into: &writer)
            Self.goals(report, among: reports, into: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }

    private static func load(_ report: BenchReport, into writer: inout JSONWriter) {
        let load = report.load
        writer.key("name")
        writer.value(report.named.name)
        writer.key("phase")
        if let phase = report.named.phase { writer.value(phase) } else { writer.null() }
        writer.key("load")
        writer.beginObject()
        for (key, value) in [
            ("rooms" as StaticString, load.rooms), ("members", load.members), ("senders", load.senders),
            ("committers", load.committersPerRoom), ("commitWindow", load.commitWindow), ("elements", load.elements),
            ("elementBytes", load.elementBytes),
            ("idle", load.idle), ("slowPerRoom", load.slowPerRoom), ("slowBytesPerSecond", load.slowBytes),
        ] {
            writer.key(key)
            writer.value(value)
        }
        for (key, value) in [
            ("rate" as StaticString, load.rate), ("commitRate", load.commitRate), ("warmUp", load.warmUp),
            ("duration", Double(report.elapsed) / 1e6),
        ] {
            writer.key(key)
            writer.value(value)
        }
        writer.endObject()
    }

    private static func counts(_ report: BenchReport, into writer: inout JSONWriter) {
        let tally = report.tally
        for (key, value) in [
            ("previewsSent" as StaticString, tally.previewsSent), ("previewsExpected", report.expectedPreviews),
            ("previewsDelivered", tally.previewsDelivered), ("previewsMerged", tally.previewsFolded),
            ("commitsSent", tally.commitsSent), ("commitsAcknowledged", tally.commitsApplied),
            ("commitsDelivered", tally.commitsDelivered), ("commitsUnanswered", report.unanswered),
            ("commitsHeldBack", tally.heldCommits), ("slowDelivered", tally.slowDelivered),
            ("missedSends", tally.missedSends), ("connections", report.live), ("connectionsLost", tally.cuts),
            ("slowReadersLost", tally.slowCuts), ("bytesIn", tally.bytesIn), ("bytesOut", tally.bytesOut),
        ] {
            writer.key(key)
            writer.value(value)
        }
        writer.key("commitsRefused")
        writer.beginObject()
        for (code, count) in zip(Answer.Code.allCases, tally.refusals) where count > 0 {
            writer.key(string: code.name)
            writer.value(count)
        }
        writer.endObject()
        writer.key("deliveriesPerSecond")
        writer.value(report.deliveriesPerSecond)
        writer.key("commitsPerSecond")
        writer.value(report.commitsPerSecond)
    }

    private static func servers(_ report: BenchReport, into writer: inout JSONWriter) {
        writer.key("servers")
        writer.beginArray()
        for server in report.servers {
            writer.beginObject()
            writer.key("name")
            writer.value(server.name)
            writer.key("pid")
            writer.value(server.pid)
            writer.key("cpuUs")
            writer.value(server.cpu)
            writer.key("peakBytes")
            writer.value(server.peakMemory)
            writer.key("gone")
            writer.value(server.isGone)
            writer.endObject()
        }
        writer.endArray()
        Self.optional("cpuUsPerDelivery", report.cpuPerDelivery, into: &writer)
        Self.optional("cpuUsPerCommit", report.cpuPerCommit, into: &writer)
        Self.optional("bytesPerIdleConnection", report.memoryPerIdle, into: &writer)
        Self.optional("slowMembersResynced", report.slowMembers.map(Double.init), into: &writer)
        writer.key("omissions")
        writer.beginArray()
        for omission in report.omissions { writer.value(omission) }
        writer.endArray()
    }

    private static func own(_ report: BenchReport, into writer: inout JSONWriter) {
        writer.key("bench")
        writer.beginObject()
        writer.key("cpuUs")
        writer.value(report.ownCPU)
        writer.key("coreShare")
        writer.value(report.ownLoad)
        writer.key("withoutCoreShare")
        writer.value(report.ownHunger)
        report.lateness.write("lateness", into: &writer)
        writer.key("bottlenecks")
        writer.beginArray()
        for reason in report.bottlenecks { writer.value(reason) }
        writer.endArray()
        writer.endObject()
    }

    private static func seconds(_ report: BenchReport, into writer: inout JSONWriter) {
        writer.key("seconds")
        writer.beginArray()
        for second in report.seconds {
            writer.beginObject()
            writer.key("deliveries")
            writer.value(second.deliveries)
            writer.key("commits")
            writer.value(second.commits)
            writer.key("serverBytes")
            writer.value(Int(second.memory))
            Self.optional("previewP50Us", second.previewP50.map(Double.init), into: &writer)
            Self.optional("previewP99Us", second.previewP99.map(Double.init), into: &writer)
            Self.optional("commitAckP99Us", second.acknowledgementP99.map(Double.init), into: &writer)
            Self.optional("commitToScreenP99Us", second.screenP99.map(Double.init), into: &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func goals(_ report: BenchReport, among all: [BenchReport], into writer: inout JSONWriter) {
        writer.key("goals")
        writer.beginArray()
        for goal in report.named.goals {
            writer.beginObject()
            writer.key("figure")
            writer.value(goal.figure.rawValue)
            if let reference = goal.reference {
                writer.key("dividedBy")
                if case .phase(let name) = reference { writer.value(name) } else { writer.value("lowest") }
            }
            Self.optional("measured", goal.value(in: report, among: all), into: &writer)
            writer.key(goal.figure.wantsMore ? "atLeast" : "atMost")
            writer.value(goal.bound)
            writer.key("met")
            if let isMet = goal.isMet(by: report, among: all) { writer.value(isMet) } else { writer.null() }
            writer.endObject()
        }
        writer.endArray()
    }

    private static func optional(_ key: StaticString, _ value: Double?, into writer: inout JSONWriter) {
        writer.key(key)
        if let value { writer.value(value) } else { writer.null() }
    }
}
