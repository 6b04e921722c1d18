import Boot
import CommitterCore
import CommitterDaemon
import PipelineTestKit
import Postgres
import ServiceLifecycle
import Testing
import Wire

@Suite(.timeLimit(.minutes(2)), .serialized) struct CommitterServiceTests {
    /// Committers in this process, between a scripted gateway and a scripted fan-out.
    struct Stage {
        let database: LiveDatabase
        let probe: Probe
        let contexts: [DaemonContext]

        func isReady(_ committer: Int = 0) -> Bool {
            !self.contexts[committer].health.current.reasons.contains { $0.check == "database" }
        }

        func metric(_ name: String, of committer: Int = 0) -> Double {
            let lines = self.contexts[committer].metrics.text().split(separator: "\n")
            let line = lines.first { $0.hasPrefix("touchsync_\(name) ") }
            return line.flatMap { Double($0.split(separator: " ").last ?? "") } ?? -1
        }
    }

    /// - Parameter url: the database where its name alone is not enough.
    func run(
        committers: Int = 1, database: LiveDatabase? = nil, url: String? = nil,
        _ body: (Stage, [ServiceGroup]) async throws -> Void
    ) async throws {
        let database = try database ?? LivePostgres.freshDatabase()
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let endpoints = (0..<committers).map { "ipc://\(folder.path)/committer\($0).sock" }
        let probe = try Probe(folder: folder.path, committers: endpoints)
        let contexts = (0..<committers).map { DaemonContext.quiet(name: "committer-\($0)") }
        let groups = try contexts.indices.map { index in
            try self.group(endpoints[index], url ?? database.connectionString, probe, contexts[index])
        }
        let stage = Stage(database: database, probe: probe, contexts: contexts)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for group in groups { tasks.addTask { try await group.run() } }
            try await probe.until("committers are up") { $0.up.count == committers }
            try await probe.until("databases are there") { _ in contexts.indices.allSatisfy { stage.isReady($0) } }
            try await probe.until("fan-out is linked") { _ in
                contexts.indices.allSatisfy { stage.metric("links_up{peer_stage=\"fanout\"}", of: $0) == 1 }
            }
            try await body(stage, groups)
            for group in groups { await group.triggerGracefulShutdown() }
            try await tasks.waitForAll()
        }
        try await probe.stop()
    }

    @Test func commitsAreStoredAnsweredAndPublished() async throws {
        try await self.run { stage, _ in
            stage.probe.send(commit(1, create("a")))
            stage.probe.send(commit(2, transform("a", x: 7), gesture: 3))
            stage.probe.send(commit(4, transform("a", x: 8)))
            try await stage.probe.until("results") { $0.results.count == 3 }
            try await stage.probe.until("updates") { $0.updates.count == 2 }
            let seen = stage.probe.now
            #expect(seen.results.map(\.seq).sorted() == [0, 1, 2])
            #expect(seen.results.compactMap(\.refusal).map(\.expected) == [3])
            #expect(seen.updates.map(\.seq) == [1, 2] && seen.updates[1].elements[0].gesture == 3)
            let row = try stage.database.connect().execute("SELECT position_x FROM element_geometry")
            #expect(row.float8(0, 0) == 7)
            // Figures are published five times a second.
            try await stage.probe.until("figures") { _ in
                stage.metric("committer_commits_total{outcome=\"applied\"}") == 2
                    && stage.metric("committer_queue_commits") == 0
            }
        }
    }

    @Test func whatCannotBeStoredIsRefused() async throws {
        try await self.run { stage, _ in
            stage.probe.send(commit(1, create("a"), room: "../x"))
            stage.probe.send(commit(1, create(Identifier(String(repeating: "e", count: 400)))))
            stage.probe.send(commit(2, create("a", "[")))
            stage.probe.send(commit(3, create("a")))
            try await stage.probe.until("results") { $0.results.count == 4 }
            let refused = stage.probe.now.results.filter { $0.refusal != nil }
            #expect(refused.count == 3 && refused.allSatisfy { $0.refusal?.code == .invalid })
        }
    }

    /// Every backend of the committers is killed again and again while commits flow to both of them.
    @Test func nothingIsLostOrDoubledWhenBackendsDie() async throws {
        try await self.run(committers: 2) { stage, _ in
            let killer = try stage.database.connect()
            let total: UInt64 = 400
            var kills = 0
            for number in 1...total {
                for session in ["s1", "s2"] as [Identifier] {
                    let command =
                        number == 1 ? create(Identifier("e\(session.text)")) : transform("es1", x: Double(number))
                    for copy in 0..<2 { stage.probe.send(commit(number, command, session: session), to: copy) }
                }
                if number % 40 == 0 {
                    kills += try killer.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'committer-%'"
                    ).count
                }
                try await stage.probe.until("\(number) settled", within: .seconds(30)) { seen in
                    // The gateway's part: whatever got no final result is sent again.
                    let settled = Set(seen.results.filter { $0.seq > 0 }.map { "\($0.session) \($0.number)" })
                    return settled.contains("s1 \(number)") && settled.contains("s2 \(number)")
                }
            }
            #expect(kills > 0)
            let rows = try killer.execute(
                "SELECT count(*), count(DISTINCT (session, n)), min(seq), max(seq), max(gseq) FROM commit_log")
            #expect((0..<5).map { rows.int8(0, $0) } == [800, 800, 1, 800, 800])
            for result in stage.probe.now.results where result.refusal == nil {
                let row = try killer.execute(
                    "SELECT seq FROM commit_log WHERE session = '\(result.session.text)' AND n = \(result.number)")
                #expect(row.int8(0, 0) == Int64(result.seq))
            }
            try await stage.probe.until("figures") { _ in
                (0..<2).contains { stage.metric("committer_batches_total{outcome=\"lost\"}", of: $0) > 0 }
            }
            let gseqs = stage.probe.now.updates.map(\.gseq)
            #expect(Set(gseqs).count == gseqs.count, "an update was published twice")
        }
    }

    @Test func stopFinishesWhatWaits() async throws {
        try await self.run { stage, groups in
            stage.probe.send(commit(1, create("a")))
            for number in 2...300 as ClosedRange<UInt64> { stage.probe.send(commit(number, transform("a", x: 1))) }
            try await stage.probe.until("the first result") { !$0.results.isEmpty }
            await groups[0].triggerGracefulShutdown()
            try await stage.probe.until("goodbye") { $0.goodbyes == 1 }
            let count = try stage.database.connect().execute("SELECT count(*) FROM commit_log").int8(0, 0)
            // Results come before the goodbye of their link; updates have another one.
            #expect(Int64(stage.probe.now.results.count) == count)
            try await stage.probe.until("updates") { Int64($0.updates.count) == count }
        }
    }

    @Test func aCommitterRestsUntilItsDatabaseIsThere() async throws {
        let cluster = try LivePostgres.ownCluster()
        let database = try cluster.freshDatabase()
        try cluster.cluster.stop(.immediate)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let endpoint = "ipc://\(folder.path)/committer.sock"
        let probe = try Probe(folder: folder.path, committers: [endpoint])
        let group = try self.group(endpoint, database.connectionString, probe, .quiet(name: "committer-1"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await probe.until("it is up and rests") { $0.up == [0] && $0.resting == [0] }
            _ = try cluster.cluster.start()
            try await probe.until("it serves") { $0.resting.isEmpty }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(probe.now.rests == 1)
        try await probe.stop()
    }

    @Test func aDatabaseOfAnOlderVersionIsRefusedWithItsReason() async throws {
        let database = try LivePostgres.freshDatabase()
        let version = migrations[0].version - 1
        let old = Migration(version: version, name: "old", sql: "SELECT 1")
        _ = try Migrator([old]).migrate(database.connectionString)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let endpoint = "ipc://\(folder.path)/committer.sock"
        let probe = try Probe(folder: folder.path, committers: [endpoint])
        let context = DaemonContext.quiet(name: "committer-1")
        let group = try self.group(endpoint, database.connectionString, probe, context)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await probe.until("the reason") { _ in
                context.health.current.reasons.contains {
                    $0.text == "\(MigrationError.tooOld(version: version))"
                }
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        try await probe.stop()
    }

    private func group(
        _ endpoint: String, _ databaseURL: String, _ probe: Probe, _ context: DaemonContext
    ) throws -> ServiceGroup {
        var values = SettingValues(defaultsOf: CommitterSettings.schema)
        values.set(SharedSettings.bind, endpoint)
        values.set(SharedSettings.fanouts, .list([PeerAddress(name: "fanout-1", endpoint: probe.fanout)]))
        values.set(SharedSettings.databaseURL, databaseURL)
        values.set(CommitterSettings.unsafeDatabase, true)
        let services = try CommitterService.services(CommitterSettings(values), context)
        return ServiceGroup(services: services, gracefulShutdownSignals: [], logger: context.logger)
    }

    @Test func outageRefusesAndHeals() async throws {
        let cluster = try LivePostgres.ownCluster()
        let database = try cluster.freshDatabase()
        try await self.run(database: database) { stage, _ in
            stage.probe.send(commit(1, create("a")))
            try await stage.probe.until("the first result") { $0.results.count == 1 }
            try cluster.cluster.stop(.immediate)
            stage.probe.send(commit(2, transform("a", x: 1)))
            try await stage.probe.until("not ready") { _ in !stage.isReady() }
            // Others are asked to do its work; what it has it keeps.
            try await stage.probe.until("it rests") { $0.resting == [0] }
            _ = try cluster.cluster.start()
            try await stage.probe.until("it serves") { $0.resting.isEmpty }
            try await stage.probe.until("the second result") { $0.results.count == 2 }
            #expect(stage.probe.now.results[1].seq == 2)
            #expect(stage.isReady())
        }
    }
}
