import Histogram
import JSONBytes
import Testing

@testable import bench

@Suite struct ReportTests {
    static func report(_ named: NamedLoad = NamedLoad("many-rooms", Load())) -> BenchReport {
        var tally = Tally()
        tally.previewsSent = 1000
        tally.previewsDelivered = 8900
        tally.previewsFolded = 60
        tally.commitsSent = 20
        tally.commitsApplied = 19
        tally.refusals[.gap] = 1
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
        var report = BenchReport(named)
        report.elapsed = 10_000_000
        report.tally = tally
        report.servers = [server, server]
        report.seconds = [second, second]
        report.live = 200
        report.ownCPU = 20_000
        report.ownLoad = 0.2
        return report
    }

    @Test func figuresOfAReport() {
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

    @Test func memoryForAnIdleConnectionIsOnlyToldWhenNoOtherLoadCameBefore() {
        var load = Load()
        load.idle = 100
        var report = Self.report(NamedLoad("idle", load))
        report.servers[0].idleMemory = 200 << 10
        report.servers[1].idleMemory = 100 << 10
        #expect(report.memoryPerIdle == 3072)
        report.followsAnother = true
        #expect(report.memoryPerIdle == nil)
    }

    @Test func talliesAddUp() {
        var sum = Tally()
        sum.add(Self.report().tally)
        sum.add(Self.report().tally)
        #expect(sum.previewsSent == 2000)
        #expect(sum.previewsFolded == 120)
        #expect(sum.refusals[.gap] == 2)
        #expect(sum.previewAge.totalCount == 20_000)
        #expect(LatencySummary(sum.previewAge).p50 == Self.report().previewAge.p50)
    }

    @Test func itSaysWhenItWasItselfInTheWay() {
        var report = Self.report()
        report.ownLoad = 0.95
        #expect(report.bottlenecks.count == 1)
        for _ in 0..<100 { report.tally.lateness.record(8000) }
        #expect(report.bottlenecks.count == 2)
        report.ownHunger = 0.4
        #expect(report.bottlenecks.count == 3)
        report.tally.missedSends = 500
        #expect(report.bottlenecks.count == 4)
        #expect(TextReport.text(report).contains("THIS PROGRAM WAS THE BOTTLENECK: it used 95 % of a core"))
    }

    @Test func itSaysWhatAServerLeftOut() {
        var report = Self.report()
        report.tally.commitsDelivered = 40
        report.tally.screen.record(1500)
        #expect(report.omissions.isEmpty)
        report.tally.screen = Tally().screen
        #expect(report.omissions.count == 1)
        report.tally.previewAge = Tally().previewAge
        #expect(report.omissions.map { $0.contains("positions") } == [true, true])
        report.tally.commitsApplied = 0
        #expect(report.omissions.count == 2, "a refusal is an answer too")
        report.tally.refusals = Tally().refusals
        #expect(report.omissions.count == 3)
        #expect(TextReport.text(report).contains("MISSING FROM THE SERVER: no element:transform was acknowledged"))
    }

    @Test func theTextNamesWhatWasMeasured() {
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

    @Test func goalsAreMetMissedOrNotMeasured() {
        let report = Self.report()
        #expect(Goal(.cpuPerDelivery, 10).isMet(by: report, among: []) == true)
        #expect(Goal(.cpuPerDelivery, 9.9).isMet(by: report, among: []) == false)
        #expect(Goal(.deliveriesPerSecond, 890).isMet(by: report, among: []) == true)
        #expect(Goal(.deliveriesPerSecond, 891).isMet(by: report, among: []) == false)
        #expect(Goal(.memoryPerIdle, 4).isMet(by: report, among: []) == nil)
        let named = NamedLoad("x", Load(), goals: [Goal(.cpuPerDelivery, 6), Goal(.memoryPerIdle, 4)])
        let table = GoalTable.text([Self.report(named)])
        #expect(table.contains("≤ 6.00        missed\n"), "\(table)")
        #expect(table.contains("not measured"))
    }

    @Test func theJSONIsSound() throws {
        let reports = BenchPreset.manyRooms.phases.map { Self.report($0) }
        var document = JSONDocument()
        try document.parse(Array(JSONReport.text(reports).utf8))
        let load = try #require(document.root["loads"]?.elements.first { _ in true })
        #expect(load["previewsDelivered"]?.integer == 8900)
        #expect(load["cpuUsPerDelivery"]?.double == 10)
        #expect(load["previewAge"]?["count"]?.integer == 10_000)
        #expect(load["commitsRefused"]?["gap"]?.integer == 1)
        #expect(load["goals"]?.count == 3)
        #expect(load["seconds"]?.count == 2)
        #expect(load["omissions"]?.count == 1)
        #expect(load["phase"]?.isNull == true)
    }

    @Test func theJSONHasEveryPhaseWithWhatItsGoalsAreMultiplesOf() throws {
        var document = JSONDocument()
        try document.parse(Array(JSONReport.text(BenchPreset.slowReaders.phases.map { Self.report($0) }).utf8))
        let loads = try #require(document.root["loads"]).elements
        #expect(loads.compactMap { $0["name"]?.string } == ["slow-readers", "slow-readers", "slow-readers"])
        #expect(loads.compactMap { $0["phase"]?.string } == ["without", "beside 1 B/s", "beside the deaf"])
        let goal = Array(loads).last?["goals"]?.elements.first { _ in true }
        #expect(goal?["dividedBy"]?.string == "without")
        #expect(goal?["measured"]?.double == 1)
    }

    @Test func aGoalThatIsAMultipleOfAnotherPhasesFigure() {
        func report(_ phase: String, ages: Range<Int>, _ goals: Goal...) -> BenchReport {
            var report = BenchReport(NamedLoad("x", phase: phase, Load(), goals: goals))
            for age in ages { report.tally.previewAge.record(UInt64(age)) }
            return report
        }
        let twice = Goal(.previewP99, 2, times: .phase("first"))
        let close = Goal(.previewP99, 1.5, times: .lowest)
        let all = [report("first", ages: 1000..<1100), report("second", ages: 1900..<2000, twice, close)]
        let other = BenchReport(NamedLoad("y", phase: "second", Load(), goals: [twice]))
        #expect(twice.isMet(by: all[1], among: all) == true)
        #expect(close.isMet(by: all[1], among: all) == false)
        #expect(close.isMet(by: all[0], among: all) == true)
        #expect(twice.isMet(by: all[1], among: [all[1]]) == nil)
        #expect(twice.isMet(by: other, among: all) == nil)
        let table = GoalTable.text(all)
        #expect(table.contains("x, second  preview age p99, ms ÷ first"), "\(table)")
        #expect(table.contains("preview age p99, ms ÷ lowest"), "\(table)")
    }

    @Test func memoryThatGrowsAndLoadsThatDoNotArriveInTime() {
        var report = Self.report()
        #expect(report.memoryGrowth == nil)
        report.seconds[0].memory = 200
        report.seconds[1].memory = 250
        #expect(report.memoryGrowth == 1.25)
        #expect(report.arrivedInTime)
        report.tally.previewsDelivered = 8000
        #expect(!report.arrivedInTime)
        report = Self.report()
        for _ in 0..<1000 { report.tally.previewAge.record(60_000) }
        #expect(!report.arrivedInTime)
    }

    @Test func thePictureHasALineForWhatWasMeasured() {
        let svg = LatencyChart.svg([Self.report(), Self.report()])
        #expect(svg.hasPrefix("<svg "))
        #expect(svg.hasSuffix("</svg>\n"))
        #expect(svg.contains("preview age p99"))
        #expect(!svg.contains("commit ack p99"))
        #expect(svg.split(separator: "<path").count == 5)
        #expect(LatencyChart.svg([]).hasPrefix("<svg "))
    }

    @Test func aLoadThatShowedNothingCanBeReportedToo() {
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
