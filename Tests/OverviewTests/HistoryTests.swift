import JSONBytes
import Testing
import Timing

@testable import Overview

@Suite struct HistoryTests {
    private let committer = ListedDaemon(
        stage: .committer, name: "committer-1", pid: 7, admin: AdminAddress(host: "127.0.0.1", port: 1))
    private let coalescer = ListedDaemon(
        stage: .coalescer, name: "coalescer-1", pid: 8, admin: AdminAddress(host: "127.0.0.1", port: 2))

    private func moment(_ second: Int) -> ScrapeRound {
        ScrapeRound(
            now: Instant(nanoseconds: UInt64(second + 1) * 1_000_000_000),
            unixMilliseconds: 1_700_000_000_000 + UInt64(second) * 1000)
    }

    private func answer(
        _ text: String = "", of stage: PipelineStage = .committer, health: DaemonHealth = DaemonHealth()
    ) throws -> ProbeOutcome {
        .answered(
            DaemonSample(
                stage: stage, health: health, samples: try ExpositionParser().samples(Array((text + "\n").utf8))))
    }

    private func troubles(_ history: PipelineHistory) -> [String] {
        history.overview.findings.map { "\($0.trouble.rawValue) \($0.daemon.name): \($0.reason)" }
    }

    @Test func aSlowDatabaseIsNamedWithTheAgeOfTheOldestCommit() throws {
        var history = PipelineHistory()
        let text = """
            touchsync_committer_queue_commits 12
            touchsync_committer_queue_oldest_seconds 3.24
            touchsync_committer_database_connections 2
            """
        history.scraped([(committer, try answer(text))], at: moment(0))
        #expect(
            troubles(history) == ["slow-database committer-1: 12 commits wait for PostgreSQL, the oldest for 3.2 s."])
        history.scraped([(committer, try answer("touchsync_committer_database_connections 2"))], at: moment(1))
        #expect(troubles(history) == [])
        let past = try #require(history.overview.pastFindings.first)
        #expect(past.trouble == .slowDatabase)
        #expect(past.since == moment(0).unixMilliseconds)
        #expect(past.until == moment(1).unixMilliseconds)
    }

    @Test func daemonsThatDoNotAnswerAreNamed() {
        var history = PipelineHistory()
        history.scraped([(committer, .silent), (coalescer, .unreachable("connection refused"))], at: moment(0))
        #expect(
            troubles(history) == [
                "daemon-silent committer-1: Its admin server gives no answer: the process is frozen or starved.",
                "daemon-down coalescer-1: No connection to its admin server: connection refused.",
            ])
        #expect(history.overview[.committer].instances[0].condition == .silent)
        #expect(history.overview[.coalescer].readyCount == 0)
    }

    @Test func aFindingThatComesBackSoonIsOneFinding() throws {
        var history = PipelineHistory()
        let rounds: [ProbeOutcome] = [.silent, try answer(), .silent, try answer()]
        for (second, outcome) in rounds.enumerated() { history.scraped([(committer, outcome)], at: moment(second)) }
        #expect(history.overview.pastFindings.map(\.since) == [moment(0).unixMilliseconds])
        #expect(history.overview.pastFindings.map(\.until) == [moment(3).unixMilliseconds])
    }

    @Test func whatComesBackAgainAndAgainIsOneFinding() throws {
        var history = PipelineHistory()
        for second in 0..<40 {
            let isSilent = second % 10 == 0 || second % 10 == 2
            history.scraped([(committer, isSilent ? .silent : try answer())], at: moment(second))
        }
        let past = history.overview.pastFindings
        #expect(past.map(\.times) == [4])
        #expect(past.map(\.since) == [moment(30).unixMilliseconds])
        #expect(past.map(\.until) == [moment(33).unixMilliseconds])
        // It is open again, until it is over for the fifth time.
        history.scraped([(committer, .silent)], at: moment(40))
        #expect(history.overview.findings.map(\.times) == [1])
        history.scraped([(committer, try answer())], at: moment(41))
        #expect(history.overview.pastFindings.map(\.times) == [5])
        history.scraped([(committer, try answer())], at: moment(41 + 15 * 60 + 1))
        #expect(history.overview.pastFindings.isEmpty)
    }

    @Test func previewsThatLeaveLaterOrTwiceAreNoCoalescing() throws {
        var history = PipelineHistory()
        // Two more arrive and are merged into others. What leaves meanwhile arrived before, and a full link returns 12.
        for (second, counts) in [[40, 10, 0, 0], [42, 30, 2, 12]].enumerated() {
            let text = """
                touchsync_coalescer_previews_received_total \(counts[0])
                touchsync_coalescer_previews_sent_total \(counts[1])
                touchsync_coalescer_previews_collapsed_total{how="folded"} \(counts[2])
                touchsync_coalescer_previews_returned_total \(counts[3])
                """
            history.scraped([(coalescer, try answer(text, of: .coalescer))], at: moment(second))
        }
        #expect(history.overview.coalescingRatio == 1.25)
    }

    @Test func healthIsReportedInTheDaemonsWords() throws {
        var history = PipelineHistory()
        let health = DaemonHealth(
            isReady: false, reasons: [.init(check: "mesh", text: "no coalescer answers")],
            notes: [.init(check: "commits", text: "commits have waited for their results for 4 s")],
            stalled: ["mesh has not turned for 7 s"])
        history.scraped([(committer, try answer(health: health))], at: moment(0))
        #expect(
            troubles(history) == [
                "loop-stalled committer-1: Mesh has not turned for 7 s.",
                "daemon-not-ready committer-1: Mesh: no coalescer answers.",
                "commits-wait committer-1: Commits have waited for their results for 4 s.",
            ])
    }

    @Test func healthIsReadFromTheAdminPages() {
        let readiness = #"{"ready":true,"reasons":[],"notes":[{"check":"rules","reason":"differ"}]}"#
        let health = DaemonHealth(
            readiness: Array(readiness.utf8), liveness: Array("stalled: apps has not turned for 6 s\n".utf8))
        #expect(
            health
                == DaemonHealth(
                    notes: [.init(check: "rules", text: "differ")], stalled: ["apps has not turned for 6 s"]))
        #expect(DaemonHealth(readiness: Array("ok\n".utf8), liveness: []) == nil)
    }

    @Test func droppedPreviewsNameTheirReason() throws {
        let fanout = ListedDaemon(stage: .fanout, name: "fanout-1", pid: 1, admin: nil)
        var history = PipelineHistory()
        for (second, count) in [0, 20].enumerated() {
            let text = """
                touchsync_fanout_previews_dropped_total{reason="waited"} \(count)
                touchsync_fanout_previews_dropped_total{reason="closed"} \(count)
                touchsync_fanout_database_connections 1
                """
            history.scraped([(fanout, try answer(text, of: .fanout))], at: moment(second))
        }
        #expect(troubles(history) == ["records-dropped fanout-1: Previews dropped: waited: 10 a second."])
    }

    @Test func aShortOutageStaysVisible() throws {
        var history = PipelineHistory()
        for second in 0..<100 {
            let isDown = (30..<35).contains(second)
            history.scraped([(committer, isDown ? .silent : try answer())], at: moment(second))
        }
        var document = JSONDocument()
        try document.parse(history.json(since: 0))
        let instance = try #require(document.root["history"]?["instances"]?.elements.first { _ in true })
        let conditions = try #require(instance["conditions"]).elements.map { run in
            run.elements.map { $0.string ?? "\(($0.integer ?? 0) - 1_700_000_000_000)" }
        }
        #expect(conditions == [["ready", "0", "30000"], ["silent", "30000", "35000"], ["ready", "35000", "99000"]])
        let past = document.root["past"]?.elements.map { $0["trouble"]?.string }
        #expect(past == ["daemon-silent"])
    }

    @Test func readersGetOnlyTheColumnsTheyLack() throws {
        var history = PipelineHistory()
        let text = "touchsync_committer_write_seconds_bucket{le=\"0.1\"} "
        for second in 0..<20 {
            let metrics = "\(text)\(second)\ntouchsync_committer_write_seconds_bucket{le=\"+Inf\"} \(second)"
            history.scraped([(committer, try answer(metrics))], at: moment(second))
        }
        for (since, columns) in [(0, 4), (1_700_000_010_000, 2), (1_700_000_099_000, 1)] as [(UInt64, Int)] {
            var document = JSONDocument()
            try document.parse(history.json(since: since))
            let heat = try #require(document.root["history"]?["heat"]?["batchDuration"]?["columns"])
            #expect(heat.elements.count { _ in true } == columns)
        }
        var document = JSONDocument()
        try document.parse(history.json(since: 0))
        let heat = try #require(document.root["history"]?["heat"]?["batchDuration"]?["columns"])
        #expect(heat.elements.map { $0.elements.map(\.integer) } == [[0, 4], [0, 5], [0, 5], [0, 5]])
    }

    /// A daemon may say anything.
    @Test(arguments: ["1e300", "-1e300", "1e-300", "-1"])
    func everyNumberIsSurvived(number: String) throws {
        for stage in PipelineStage.allCases {
            let daemon = ListedDaemon(stage: stage, name: "d", pid: 1, admin: nil)
            let names = FigureTable[stage].metrics.flatMap { name in
                ["\(name) \(number)", "\(name){reason=\"x\",interval=\"33\"} \(number)"]
            }
            var history = PipelineHistory()
            for second in 0..<4 {
                let text = names.joined(separator: "\n")
                history.scraped([(daemon, try answer(text, of: stage))], at: moment(second))
            }
            var document = JSONDocument()
            #expect(throws: Never.self) { try document.parse(history.json(since: 0)) }
        }
    }

    @Test func memoryIsBounded() throws {
        var history = PipelineHistory()
        let many = (0..<100).map { ListedDaemon(stage: .gateway, name: "gateway-\($0)", pid: 1, admin: nil) }
        for second in 0..<905 {
            let round = second < 904 ? Array(many.prefix(1)) : many
            history.scraped(round.map { ($0, .starting) }, at: moment(second))
        }
        #expect(history.instances.count == DaemonList.limit)
        #expect(history.instances[0].points.count == InstanceHistory.length)
    }

    @Test func listsAreReadWithinTheirLimits() {
        let list = """
            {"urls":[],"processes":[
            {"stage":"fanout","name":"fanout-1","pid":null,"http":null,"ready":false},
            {"stage":"gateway","name":"gateway-1","pid":12,"http":"http://[::1]:8080/","ready":true},
            {"stage":"gateway","name":"gateway-1","pid":13,"http":null},
            {"stage":"postgres","name":"postgres","pid":14,"http":null}]}
            """
        #expect(
            DaemonList.parse(Array(list.utf8)) == [
                ListedDaemon(stage: .fanout, name: "fanout-1", pid: nil, admin: nil),
                ListedDaemon(
                    stage: .gateway, name: "gateway-1", pid: 12, admin: AdminAddress(host: "::1", port: 8080)),
            ])
        #expect(DaemonList.parse(Array("{}".utf8)) == nil)
        #expect(DaemonList.parse(Array(repeating: 0x20, count: DaemonList.maxBytes + 1)) == nil)
    }

    @Test(arguments: ["https://a:1", "http://a", "http://a:0", "http://a:70000", "http://::1:80", "http:///a:1", "a:1"])
    func addressesThatAreNoneAreRefused(_ url: String) {
        #expect(AdminAddress(url) == nil)
    }
}
