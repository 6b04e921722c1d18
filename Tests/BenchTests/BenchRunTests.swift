import NIOCore
import NIOPosix
import SocketIOServer
import Testing

@testable import bench

@Suite(.timeLimit(.minutes(1))) struct BenchRunTests {
    static func options(port: Int, _ load: Load) -> BenchOptions {
        var options = BenchOptions()
        options.urls = ["http://127.0.0.1:\(port)"]
        options.isPlain = true
        options.isQuiet = true
        options.loads = [NamedLoad("test", load)]
        return options
    }

    /// Runs loads on a thread that may wait.
    static func reports(_ options: BenchOptions) async throws -> [BenchReport] {
        try await NIOThreadPool.singleton.runIfActive { try Bench.reports(options) }
    }

    @Test func aLoadOnARelayingServerWhatIsSentArrivesWithItsAge() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let (server, port, _) = try await RelayServer.start(on: group.next())
        var load = Load()
        load.rooms = 2
        load.members = 5
        load.rate = 50
        load.commitRate = 40
        load.slowShare = 0.2
        load.slowBytes = 100_000
        load.idle = 3
        load.ramp = 0
        load.warmUp = 0
        load.duration = 3
        load.stormAfter = 1
        load.stormShare = 1
        let report = try #require(try await Self.reports(Self.options(port: port, load)).first)
        #expect(report.live == 13)
        // 2 rooms × 2 senders × 50 Hz × 3 s, less what was due while the storm went on.
        #expect((200...600).contains(report.tally.previewsSent), "\(report.tally.previewsSent)")
        #expect(report.tally.previewsDelivered > 200)
        #expect(report.tally.previewsDelivered <= report.expectedPreviews)
        #expect(report.previewAge.count == report.tally.previewsDelivered)
        #expect(report.previewAge.p50 < 1_000_000)
        #expect(report.tally.commitsApplied > 30)
        #expect(report.screen.count == report.tally.commitsDelivered)
        #expect(report.tally.slowDelivered > 0)
        #expect(report.rejoin.count == 10)
        #expect(report.unanswered == 0)
        #expect(report.seconds.count == 3)
        try await server.eventLoop.submit { server.closeAll() }.get()
    }

    @Test func phasesThatContinueKeepTheirConnectionsAndSendAsMuchAsASearchFound() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let (server, port, connections) = try await RelayServer.start(on: group.next())
        var load = Load()
        load.rooms = 1
        load.members = 4
        load.ramp = 0
        load.warmUp = 0
        load.duration = 1
        var phases = ["search", "twice", "anew"].map { NamedLoad("test", phase: $0, load) }
        phases[0].senders = .tried([1])
        phases[1].senders = .timesFound(2)
        phases[1].continues = true
        phases[1].load.commitRate = 20
        var options = Self.options(port: port, load)
        options.loads = Array(phases[..<2])
        let reports = try await Self.reports(options)
        #expect(reports.map(\.load.senders) == [1, 2])
        #expect(reports[0].tally.commitsSent == 0)
        #expect(reports[1].tally.commitsApplied > 0)
        #expect(reports[1].tally.previewsSent > reports[0].tally.previewsSent)
        #expect(try await server.eventLoop.submit { connections.value }.get() == 4)
        options.loads = [phases[2], phases[2]]
        #expect(try await Self.reports(options).count == 2)
        #expect(try await server.eventLoop.submit { connections.value }.get() == 12)
        try await server.eventLoop.submit { server.closeAll() }.get()
    }

    @Test func aServerThatDoesNotKnowTheEventsTheReportSaysWhich() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let (server, port, _) = try await RelayServer.start(
            on: group.next(), ignoring: ["element:transforming", "element:transform"])
        var load = Load()
        load.rooms = 1
        load.members = 3
        load.commitRate = 20
        load.ramp = 0
        load.warmUp = 0
        load.duration = 1
        let report = try #require(try await Self.reports(Self.options(port: port, load)).first)
        let names = ["element:transforming", "element:transform was acknowledged", "element:transformed"]
        #expect(report.omissions.count == names.count, "\(report.omissions)")
        for (omission, name) in zip(report.omissions, names) { #expect(omission.contains(name)) }
        try await server.eventLoop.submit { server.closeAll() }.get()
    }

    @Test func aServerThatAnswersNoJoinTheFailureSaysSo() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let (server, port, _) = try await RelayServer.start(on: group.next(), ignoring: ["room:join"])
        var load = Load()
        load.rooms = 1
        load.members = 2
        load.ramp = 0
        var options = Self.options(port: port, load)
        options.patience = 1
        let failure = await #expect(throws: BenchFailure.self) { try await Self.reports(options) }
        let reason = "waiting for the acknowledgement of room:join"
        #expect(failure?.description.hasSuffix(reason) == true, "\(failure?.description ?? "nothing")")
        try await server.eventLoop.submit { server.closeAll() }.get()
    }

    @Test func aProcessThatDoesNotRunIsToldBeforeAnythingIsSent() async throws {
        var options = Self.options(port: 1, Load())
        options.processes = [WatchedProcess(name: "server", pid: Int(Int32.max))]
        let failure = await #expect(throws: BenchFailure.self) { try await Self.reports(options) }
        #expect(failure?.description.contains("server") == true)
    }

    @Test func nobodyListens() async throws {
        var load = Load()
        load.rooms = 1
        load.members = 2
        load.ramp = 0
        // A port that was free a moment ago.
        let probe = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(probe.localAddress?.port)
        try await probe.close()
        var options = Self.options(port: port, load)
        options.patience = 1
        await #expect(throws: BenchFailure.self) { try await Self.reports(options) }
    }

    @Test func addressesThatItCannotSpeakWithAreRefusedAtOnce() async throws {
        var options = Self.options(port: 1, Load())
        options.urls = ["https://127.0.0.1"]
        await #expect(throws: BenchFailure.self) { try await Self.reports(options) }
    }
}
