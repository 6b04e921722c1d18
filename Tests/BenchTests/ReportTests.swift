import ArgumentParser
import JSONBytes
import Testing

@testable import bench

@Suite struct ReportTests {
    static func report(_ phase: String = "", ages: ClosedRange<Int64> = 1...10_000, _ goals: Goal...) -> Report {
        var named = Preset.Phase(phase, Load())
        named.goals = goals
        var report = Report("many-rooms", named)
        report.tally.previewsSent = 1000
        report.tally.previewsDelivered = 8900
        report.tally.commitsApplied = 19
        for age in ages { report.tally.previewAge.record(age * 1000) }
        for time in [900, 1100, 4000] as [Int64] { report.tally.acknowledgement.record(time * 1000) }
        report.elapsed = 10_000_000_000
        return report
    }

    @Test func percentilesKeepThreeDigits() throws {
        let age = Self.report().tally.previewAge
        #expect(age.count == 10_000)
        for (percent, value) in [(50, 5), (99, 9.9), (100, 10)] as [(Double, Double)] {
            #expect(abs(try #require(age.milliseconds(percent)) - value) <= value / 500)
        }
        var extremes = Latencies()
        #expect(extremes.milliseconds(50) == nil)
        for time in [-5, .max] as [Int64] { extremes.record(time) }
        #expect(extremes.milliseconds(50) == 0)
        #expect(abs(try #require(extremes.milliseconds(100)) - 60_000) <= 60)
    }

    @Test func figures() {
        let report = Self.report()
        #expect(report.expectedPreviews == 9000)
        #expect(Metric.deliveriesPerSecond.value(in: report) == 890)
        #expect(Metric.commitsPerSecond.value(in: report) == 1.9)
        #expect(Metric.cpuPerDelivery.value(in: report) == nil, "nobody is watched")
        #expect(report.arrivedInTime)
        #expect(!Self.report(ages: 1...60_000).arrivedInTime)
        // 5 % of 1,000 senders are seen by 20 viewers, and senders want no previews.
        #expect(Preset.all.first { $0.name == "viewports" }?.phases.map(\.load.receivers) == [20, 1])
    }

    @Test func goalsAreMetMissedOrNotMeasured() {
        let alone = Self.report("", Goal(.previewP99, 10), Goal(.commitsPerSecond, 2), Goal(.memoryPerIdle, 4))
        #expect(alone.phase.goals.map { $0.isMet(by: alone, among: [alone]) } == [true, false, nil])
        let twice = Goal(.previewP99, 2, times: .first)
        let close = Goal(.previewP99, 1.5, times: .lowest)
        let all = [Self.report("a", ages: 1000...1100), Self.report("b", ages: 1900...2000, twice, close)]
        #expect(twice.isMet(by: all[1], among: all) == true)
        #expect(close.isMet(by: all[1], among: all) == false)
        #expect(close.isMet(by: all[0], among: all) == true)
        #expect(Report.goals(all).contains("missed"))
        #expect(Report.goals([Self.report()]).isEmpty)
    }

    @Test func itSaysWhenItWasItselfInTheWay() {
        var report = Self.report()
        #expect(report.bottlenecks.isEmpty)
        report.ownLoad = 0.95
        for _ in 0..<100 { report.tally.lateness.record(8_000_000) }
        report.ownHunger = 0.4
        report.tally.missedSends = 500
        #expect(report.bottlenecks.count == 4)
        #expect(report.text.contains("THIS PROGRAM WAS THE BOTTLENECK: it used 95.0 % of a core"))
    }

    @Test func cpuTimeAndMemoryOfServers() throws {
        let line =
            "123 (a) b (c) S 1 123 123 0 -1 4194304 500 0 0 0 250 50 0 0 20 0 9 0 100 700000000 2048 18446744073709551615 1"
        let sample = try #require(Server.sample(Array(line.utf8)))
        #expect(sample.cpu == 3_000_000 && sample.memory == 2048 * 4096)
    }

    @Test func theJSONHasWhatWasMeasured() throws {
        var document = JSONDocument()
        try document.parse(Array(Report.json([Self.report("a")]).utf8))
        let load = try #require(document.root["loads"]?.elements.first { _ in true })
        #expect(load["phase"]?.string == "a")
        #expect(load["deliveriesPerSecond"]?.double == 890)
        #expect(load["acknowledgementP50"] != nil && load["groupP50"] == nil)
    }

    @Test func argumentsChangeALoadAndItsGoals() throws {
        func phases(_ arguments: String...) throws -> [Preset.Phase] {
            try BenchCommand.parse(arguments).bench().presets.flatMap(\.phases)
        }
        #expect(try phases("--rooms", "3", "--commits", "5").map(\.load) == [Load(rooms: 3, commits: .steady(5))])
        #expect(try phases("--preset", "standard").count == 16)
        #expect(try phases("--preset", "light", "--duration", "3").map(\.goals.isEmpty) == [false])
        #expect(try phases("--preset", "light", "--rate", "31").map(\.goals.isEmpty) == [true])
        #expect(Preset.all.flatMap(\.phases).allSatisfy { $0.load.isPossible })
        #expect(throws: (any Error).self) { try phases("--preset", "nothing") }
    }
}
