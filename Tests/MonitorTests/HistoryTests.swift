import Boot
import JSONBytes
import Stages
import Testing
import Timing

@testable import OperatorMonitor

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
        _ text: String = "", of stage: Stage = .committer, health: DaemonHealth = DaemonHealth()
    ) throws -> ProbeOutcome {
        .answered(
            DaemonSample(
                stage: stage, health: health, samples: try Exposition.samples(Array((text + "\n").utf8))))
    }

    private func troubles(_ history: PipelineHistory) -> [String] {
        history.findings.map { "\($0.trouble.rawValue) \($0.daemon.name): \($0.reason)" }
    }

    @Test func whatComesBackAgainAndAgainIsOneFinding() throws {
        var history = PipelineHistory()
        for second in 0..<40 {
            let isSilent = second % 10 == 0 || second % 10 == 2
            history.scraped([(committer, isSilent ? .silent : try answer())], at: moment(second))
        }
        let past = history.journal.past
        #expect(past.map(\.times) == [4])
        #expect(past.map(\.since) == [moment(30).unixMilliseconds])
        #expect(past.map(\.until) == [moment(33).unixMilliseconds])
        // It is open again, until it is over for the fifth time.
        history.scraped([(committer, .silent)], at: moment(40))
        #expect(history.findings.map(\.times) == [1])
        history.scraped([(committer, try answer())], at: moment(41))
        #expect(history.journal.past.map(\.times) == [5])
        history.scraped([(committer, try answer())], at: moment(41 + 15 * 60 + 1))
        #expect(history.journal.past.isEmpty)
    }

    @Test func previewsThatLeaveLaterOrTwiceAreNoCoalescing() throws {
        var history = PipelineHistory()
        // Two more arrive and are merged into others. What leaves meanwhile arrived before, and a full link returns 12.
        for (second, counts) in [[40, 10, 0, 0], [42, 30, 2, 12]].enumerated() {
            let text = """
                touchsync_coalescer_previews_received_total \(counts[0])
                touchsync_coalescer_previews_sent_total \(counts[1])
                touchsync_coalescer_previews_coalesced_total{outcome="replaced"} \(counts[2])
                touchsync_coalescer_previews_returned_total \(counts[3])
                """
            history.scraped([(coalescer, try answer(text, of: .coalescer))], at: moment(second))
        }
        #expect(history.coalescingRatio == 1.25)
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

    /// A daemon may say anything.
    @Test(arguments: ["1e300", "-1e300", "1e-300", "-1"])
    func everyNumberIsSurvived(number: String) throws {
        for stage in Stage.allCases {
            let daemon = ListedDaemon(stage: stage, name: "d", pid: 1, admin: nil)
            let names = FigureTable[stage].metrics.flatMap { name in
                ["\(name) \(number)", "\(name){reason=\"x\",interval_ms=\"33\"} \(number)"]
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

    @Test func daemonsAreFoundByNames() throws {
        let source = try DaemonSource(["committer=srv://_admin._tcp.committers", "gateway=dns://gateways:9400"])
        #expect(source.text == "committer=srv://_admin._tcp.committers,gateway=dns://gateways:9400")
        for items in [["committer=srv://a", "committer=srv://b"], ["mail=srv://a"], ["committer=http://a"], []] {
            #expect(throws: SettingRefusal.self) { try DaemonSource(items) }
        }
        var directory = DaemonDirectory()
        func answer(_ stage: Stage, _ names: String..., at second: UInt64) {
            let instances = names.map { DNSInstance(name: $0, address: "10.0.0.1", port: 9400) }
            let answer = names.isEmpty ? Result.failure(SettingRefusal("does not resolve")) : .success(instances)
            directory.answered(stage, answer, patience: .seconds(2), at: Instant(nanoseconds: second * 1_000_000_000))
        }
        answer(.committer, "c-0", "c-1", at: 0)
        answer(.gateway, "g", at: 0)
        #expect(directory.daemons.map(\.name) == ["g", "c-0", "c-1"] && directory.refusal == nil)
        // A resolver that fails says nothing; who is missing in answers goes after a while.
        answer(.committer, at: 1)
        #expect(directory.daemons.count == 3 && directory.refusal == "of the committers does not resolve")
        answer(.committer, "c-1", at: 2)
        #expect(directory.daemons.count == 3 && directory.refusal == nil)
        answer(.committer, "c-1", at: 4)
        #expect(directory.daemons.map(\.name) == ["g", "c-1"])
        #expect(directory.daemons[1].admin == AdminAddress(host: "10.0.0.1", port: 9400))
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
