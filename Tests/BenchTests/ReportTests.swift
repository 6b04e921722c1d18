import Histogram
import JSONBytes
import OperatorBench
import Testing

@Suite struct ReportTests {
    static func report() -> BenchReport {
        var tally = Tally()
        tally.previewsSent = 1000
        tally.previewsDelivered = 8900
        tally.previewsFolded = 60
        tally.commitsSent = 20
        tally.commitsApplied = 19
        tally.refusals[Answer.Code.gap.rawValue] = 1
        for value in 1...10_000 { tally.previewAge.record(UInt64(value)) }
        for value in [900, 1100, 4000] { tally.acknowledgement.record(UInt64(value)) }
        var server = BenchReport.Server(WatchedProcess(name: "gateway-1", pid: 7))
        server.cpu = 44_500
        server.peakMemory = 20 << 20
        var second = BenchReport.Second()
        second.deliveries = 890
        second.commits = 2
        second.previewP50 = 5000
        second.previewP99 = 9900
        var report = BenchReport(name: "many-rooms", load: Load())
        report.elapsed = 10_000_000
        report.tally = tally
        report.servers = [server, server]
        report.seconds = [second, second]
        report.live = 200
        report.ownCPU = 20_000
        report.busiestLoop = 0.2
        return report
    }

    @Test func `Figures of a report`() {
        let report = Self.report()
        #expect(report.expectedPreviews == 9000)
        #expect(report.cpuPerDelivery == 10)
        #expect(report.deliveriesPerSecond == 890)
        #expect(report.commitsPerSecond == 1.9)
        #expect(report.memoryPerIdle == nil)
        #expect(report.bottlenecks.isEmpty)
        let age = report.previewAge
        #expect(age.count == 10_000)
        // Three digits are kept.
        #expect((4990...5010).contains(age.p50))
        #expect((9890...9910).contains(age.p99))
        #expect((10_000...10_010).contains(age.max))
        #expect(report.rejoin == LatencySummary(Tally().rejoin))
        #expect(report.rejoin.count == 0 && report.rejoin.max == 0)
    }

    @Test func `Memory for an idle connection is only told when no other load came before`() {
        var report = Self.report()
        report.load.idle = 100
        report.servers[0].idleMemory = 200 << 10
        report.servers[1].idleMemory = 100 << 10
        #expect(report.memoryPerIdle == 3072)
        report.followsAnother = true
        #expect(report.memoryPerIdle == nil)
    }

    @Test func `Tallies add up`() {
        var sum = Tally()
        sum.add(Self.report().tally)
        sum.add(Self.report().tally)
        #expect(sum.previewsSent == 2000)
        #expect(sum.previewsFolded == 120)
        #expect(sum.refusals[Answer.Code.gap.rawValue] == 2)
        #expect(sum.previewAge.totalCount == 20_000)
        #expect(LatencySummary(sum.previewAge).p50 == Self.report().previewAge.p50)
    }

    @Test func `It says when it was itself in the way`() {
        var report = Self.report()
        report.busiestLoop = 0.95
        #expect(report.bottlenecks.count == 1)
        for _ in 0..<100 { report.tally.lateness.record(8000) }
        report.hungriestLoop = 0.4
        #expect(report.bottlenecks.count == 2)
        report.tally.missedSends = 500
        #expect(report.bottlenecks.count == 3)
        #expect(TextReport.text(report).contains("THIS PROGRAM WAS THE BOTTLENECK: its busiest loop used 95 %"))
    }

    @Test func `The text names what was measured`() {
        let text = TextReport.text(Self.report())
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        for line in [
            "many-rooms: 20 rooms × 10 members, 2 senders each at 60.0 Hz",
            "previews delivered 8,900 890/s of 9,000 60 merged 40 missing or under way",
            "commits acknowledged 19 1.90/s 0 unanswered 0 held back", "commits refused 1 gap",
            "commit to ack 1.10 4.00 4.00 4.00", "all 0.09 0.9 % 10.0 4,684 40.0 MiB",
        ] {
            #expect(lines.contains(line), "\(line) in\n\(text)")
        }
    }

    @Test func `Goals are met, missed or not measured`() {
        let report = Self.report()
        #expect(Goal(.cpuPerDelivery, 10).isMet(by: report) == true)
        #expect(Goal(.cpuPerDelivery, 9.9).isMet(by: report) == false)
        #expect(Goal(.deliveriesPerSecond, 890).isMet(by: report) == true)
        #expect(Goal(.deliveriesPerSecond, 891).isMet(by: report) == false)
        #expect(Goal(.memoryPerIdle, 4).isMet(by: report) == nil)
        let named = NamedLoad("x", report.load, goals: [Goal(.cpuPerDelivery, 6), Goal(.memoryPerIdle, 4)])
        let table = GoalTable.text([(named, report)])
        #expect(table.contains("≤ 6.00        missed\n"), "\(table)")
        #expect(table.contains("not measured"))
    }

    @Test func `The JSON is sound`() throws {
        let named = NamedLoad("many-rooms", Load(), goals: Preset.manyRooms.goals)
        var document = JSONDocument()
        try document.parse(Array(JSONReport.text([(named, Self.report())]).utf8))
        let load = try #require(document.root["loads"]?.elements.first { _ in true })
        #expect(load["previewsDelivered"]?.integer == 8900)
        #expect(load["cpuUsPerDelivery"]?.double == 10)
        #expect(load["previewAge"]?["count"]?.integer == 10_000)
        #expect(load["commitsRefused"]?["gap"]?.integer == 1)
        #expect(load["goals"]?.count == 3)
        #expect(load["seconds"]?.count == 2)
    }

    @Test func `The picture has a line for what was measured`() {
        let svg = LatencyChart.svg([Self.report(), Self.report()])
        #expect(svg.hasPrefix("<svg "))
        #expect(svg.hasSuffix("</svg>\n"))
        #expect(svg.contains("preview age p99"))
        #expect(!svg.contains("commit ack p99"))
        #expect(svg.split(separator: "<path").count == 5)
        #expect(LatencyChart.svg([]).hasPrefix("<svg "))
    }

    @Test func `A load that showed nothing can be reported too`() {
        var report = Self.report()
        report.tally = Tally()
        report.servers = []
        report.seconds = []
        report.elapsed = 0
        #expect(TextReport.text(report).contains("connections"))
        #expect(LatencyChart.svg([report]).contains("many-rooms"))
        #expect(report.cpuPerDelivery == nil)
    }
}
