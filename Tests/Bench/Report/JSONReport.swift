import JSONBytes

/// Reports as one line of JSON: `{"loads":[…]}`. Times are microseconds where a name says so, else seconds.
package enum JSONReport {
    package static func text(_ reports: [BenchReport]) -> String {
        let text = JSONWriter.text { writer in
            writer.objects("loads", reports) { report, writer in
                Self.load(report, into: &writer)
                Self.counts(report, into: &writer)
                report.previewAge.write("previewAge", into: &writer)
                report.acknowledgement.write("commitAck", into: &writer)
                report.groupAcknowledgement.write("groupAck", into: &writer)
                report.screen.write("commitToScreen", into: &writer)
                report.rejoin.write("rejoin", into: &writer)
                Self.servers(report, into: &writer)
                Self.own(report, into: &writer)
                Self.seconds(report, into: &writer)
                Self.goals(report, among: reports, into: &writer)
            }
        }
        return String(decoding: text, as: UTF8.self) + "\n"
    }

    private static func load(_ report: BenchReport, into writer: inout JSONWriter) {
        let load = report.load
        writer.member("name", report.named.name)
        writer.member("phase", report.named.phase)
        writer.object("load") { writer in
            writer.member("rooms", load.rooms)
            writer.member("members", load.members)
            writer.member("senders", load.senders)
            writer.member("committers", load.committersPerRoom)
            writer.member("commitWindow", load.commitWindow)
            writer.member("elements", load.elements)
            writer.member("gesturePreviews", load.gesturePreviews)
            writer.member("gestureGroups", load.gestureGroups)
            writer.member("elementBytes", load.elementBytes)
            writer.member("idle", load.idle)
            writer.member("slowPerRoom", load.slowPerRoom)
            writer.member("slowBytesPerSecond", load.slowBytes)
            writer.member("rate", load.rate)
            writer.member("commitRate", load.commitRate)
            writer.member("warmUp", load.warmUp)
            writer.member("duration", Double(report.elapsed) / 1e6)
        }
    }

    private static func counts(_ report: BenchReport, into writer: inout JSONWriter) {
        let tally = report.tally
        writer.member("previewsSent", tally.previewsSent)
        writer.member("previewsExpected", report.expectedPreviews)
        writer.member("previewsDelivered", tally.previewsDelivered)
        writer.member("previewsMerged", tally.previewsFolded)
        writer.member("commitsSent", tally.commitsSent)
        writer.member("commitsAcknowledged", tally.commitsApplied)
        writer.member("commitsDelivered", tally.commitsDelivered)
        writer.member("commitsUnanswered", report.unanswered)
        writer.member("commitsHeldBack", tally.heldCommits)
        writer.member("slowDelivered", tally.slowDelivered)
        writer.member("missedSends", tally.missedSends)
        writer.member("connections", report.live)
        writer.member("connectionsLost", tally.cuts)
        writer.member("slowReadersLost", tally.slowCuts)
        writer.member("bytesIn", tally.bytesIn)
        writer.member("bytesOut", tally.bytesOut)
        writer.object("commitsRefused") { writer in
            for code in Answer.Code.allCases {
                guard let count = tally.refusals[code] else { continue }
                writer.key(string: code.rawValue)
                writer.value(count)
            }
        }
        writer.member("deliveriesPerSecond", report.deliveriesPerSecond)
        writer.member("commitsPerSecond", report.commitsPerSecond)
    }

    private static func servers(_ report: BenchReport, into writer: inout JSONWriter) {
        writer.objects("servers", report.servers) { server, writer in
            writer.member("name", server.name)
            writer.member("pid", server.pid)
            writer.member("cpuUs", server.cpu)
            writer.member("peakBytes", server.peakMemory)
            writer.member("gone", server.isGone)
        }
        writer.member("cpuUsPerDelivery", report.cpuPerDelivery)
        writer.member("cpuUsPerCommit", report.cpuPerCommit)
        writer.member("bytesPerIdleConnection", report.memoryPerIdle)
        writer.member("slowMembersResynced", report.slowMembers)
        writer.member("omissions", report.omissions)
    }

    private static func own(_ report: BenchReport, into writer: inout JSONWriter) {
        writer.object("bench") { writer in
            writer.member("cpuUs", report.ownCPU)
            writer.member("coreShare", report.ownLoad)
            writer.member("withoutCoreShare", report.ownHunger)
            report.lateness.write("lateness", into: &writer)
            writer.member("bottlenecks", report.bottlenecks)
        }
    }

    private static func seconds(_ report: BenchReport, into writer: inout JSONWriter) {
        writer.objects("seconds", report.seconds) { second, writer in
            writer.member("deliveries", second.deliveries)
            writer.member("commits", second.commits)
            writer.member("serverBytes", Int(second.memory))
            writer.member("previewP50Us", second.previewP50)
            writer.member("previewP99Us", second.previewP99)
            writer.member("commitAckP99Us", second.acknowledgementP99)
            writer.member("commitToScreenP99Us", second.screenP99)
        }
    }

    private static func goals(_ report: BenchReport, among all: [BenchReport], into writer: inout JSONWriter) {
        writer.objects("goals", report.named.goals) { goal, writer in
            writer.member("figure", goal.figure.rawValue)
            if let reference = goal.reference {
                writer.key("dividedBy")
                if case .phase(let name) = reference { writer.value(name) } else { writer.value("lowest") }
            }
            writer.member("measured", goal.value(in: report, among: all))
            writer.member(goal.figure.wantsMore ? "atLeast" : "atMost", goal.bound)
            writer.member("met", goal.isMet(by: report, among: all))
        }
    }
}
