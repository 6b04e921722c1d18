import NIOCore
import NIOPosix
import SocketIOServer
import Testing

@testable import bench

/// Whole runs against a server that relays.
@Suite(.timeLimit(.minutes(1))) struct BenchRunTests {
    static func bench(port: Int, _ presets: Preset...) throws -> Bench {
        var target = Target(addresses: [try ServerAddress("http://127.0.0.1:\(port)")])
        target.isPlain = true
        return Bench(target: target, presets: presets, patience: 1)
    }

    static func preset(_ load: Load) -> Preset { Preset(name: "test", phases: [Preset.Phase("", load)]) }

    /// Runs loads on a thread that may wait.
    static func reports(_ bench: Bench) async throws -> [Report] {
        try await NIOThreadPool.singleton.runIfActive { try bench.run() }
    }

    @Test func whatIsSentArrivesWithItsAge() async throws {
        let (server, port, _) = try await RelayServer.start()
        let load = Load(
            rooms: 2, members: 5, rate: 50, commits: .steady(40), slowReaders: 1, slowBytes: 100_000, idle: 3, ramp: 0,
            warmUp: 0, duration: 3)
        let report = try #require(try await Self.reports(Self.bench(port: port, Self.preset(load))).first)
        let tally = report.tally
        #expect(report.live == 13)
        // 2 rooms × 2 senders × 50 Hz × 3 s; on a busy machine some are left out.
        #expect(tally.previewsSent + tally.missedSends >= 590, "\(tally.previewsSent)")
        #expect(report.expectedPreviews == 3 * tally.previewsSent)
        #expect(tally.previewsDelivered > 0 && tally.previewsDelivered <= report.expectedPreviews)
        #expect(tally.previewAge.count == tally.previewsDelivered)
        #expect(try #require(tally.previewAge.milliseconds(100)) < 30_000)
        #expect(tally.commitsApplied > 0 && tally.screen.count == tally.commitsDelivered)
        #expect(tally.slowDelivered > 0)
        #expect(report.unanswered == 0 && report.omissions.isEmpty)
        try await server.eventLoop.submit { server.closeAll() }.get()
    }

    @Test func phasesThatDependOnASearchUseTheSameConnections() async throws {
        let (server, port, connections) = try await RelayServer.start()
        var load = Load(rooms: 1, members: 4, rate: 20, ramp: 0, warmUp: 0, duration: 1)
        var preset = Self.preset(load)
        preset.search = load
        load.commits = .steady(20)
        preset.phases = [Preset.Phase("calm", load), Preset.Phase(Preset.twiceTooMuch, load)]
        var bench = try Self.bench(port: port, preset)
        bench.sustainable = 2
        let reports = try await Self.reports(bench)
        #expect(reports.map(\.phase.load.senders) == [2, 4])
        #expect(reports[1].tally.commitsApplied > 0)
        #expect(reports[1].tally.previewsSent > reports[0].tally.previewsSent)
        #expect(try await server.eventLoop.submit { connections.value }.get() == 4)
        try await server.eventLoop.submit { server.closeAll() }.get()
    }

    @Test func theReportNamesWhatAServerLeavesOut() async throws {
        let (server, port, _) = try await RelayServer.start(
            ignoring: ["element:transforming", "element:transform"])
        let load = Load(rooms: 1, members: 3, commits: .steady(20), ramp: 0, warmUp: 0, duration: 1)
        let report = try #require(try await Self.reports(Self.bench(port: port, Self.preset(load))).first)
        #expect(report.omissions.count == 3, "\(report.omissions)")
        #expect(report.unanswered == report.tally.commitsSent)
        try await server.eventLoop.submit { server.closeAll() }.get()
    }

    @Test func aRunThatCannotBeginSaysWhy() async throws {
        let (server, port, _) = try await RelayServer.start(ignoring: ["room:join"])
        let load = Load(rooms: 1, members: 2, ramp: 0)
        func failure(_ bench: Bench) async throws -> String {
            do { return "\(try await Self.reports(bench).count) reports" } catch { return "\(error)" }
        }
        let deaf = try await failure(try Self.bench(port: port, Self.preset(load)))
        #expect(deaf.hasSuffix("waiting for the acknowledgement of room:join"), "\(deaf)")
        try await server.eventLoop.submit { server.closeAll() }.get()
        var bench = try Self.bench(port: 1, Self.preset(load))
        #expect(try await failure(bench).contains("0 of 2 connections"))
        bench.servers = [Server(name: "server", pid: Int(Int32.max))]
        #expect(try await failure(bench).contains("no process"))
        #expect(try await failure(try Self.bench(port: port, Self.preset(Load(members: 0)))).contains("not possible"))
        #expect(throws: BenchFailure.self) { try ServerAddress("https://127.0.0.1") }
    }
}
