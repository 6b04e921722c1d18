import CommitterCore
import CommitterDaemon
import PipelineTestKit
import Postgres
import Testing
import Wire

/// A committer on two real servers, the second a standby of the first.
@Suite(.timeLimit(.minutes(2)), .serialized) struct LiveFailoverTests {
    private typealias Stage = CommitterServiceTests.Stage

    /// A primary and its standby.
    private struct Pair {
        let primary: LiveCluster
        let standby: LiveStandby
        let database: LiveDatabase

        init() throws {
            self.primary = try LivePostgres.ownCluster()
            self.database = try self.primary.freshDatabase()
            _ = try Migrator(migrations).migrate(self.database.connectionString)
            self.standby = try self.primary.standby()
        }

        /// Both, as an operator would name them.
        var url: String {
            "host=\(self.primary.cluster.socketDirectory),\(self.standby.cluster.socketDirectory) port=5432,5432 "
                + "user=touchsync dbname=\(self.database.name) target_session_attrs=read-write"
        }

        func connect(toStandby: Bool) throws -> BlockingConnection {
            let cluster = toStandby ? self.standby.cluster : self.primary.cluster
            return try BlockingConnection(cluster.connectionString(database: self.database.name))
        }

        func epoch(ofStandby: Bool) throws -> String? {
            try self.connect(toStandby: ofStandby).execute("SELECT value FROM meta WHERE key = 'epoch'").text(0, 0)
        }
    }

    /// Sends a commit again and again, as its gateway would, until it was applied.
    private func settle(_ stage: Stage, _ number: UInt64, _ edit: EncodedEdit) async throws {
        var sendAt = ContinuousClock.now
        try await stage.probe.until("commit \(number)", within: .seconds(60)) { seen in
            if ContinuousClock.now >= sendAt {
                stage.probe.send(commit(number, edit))
                sendAt += .seconds(1)
            }
            return seen.results.contains { $0.number == number && $0.seq > 0 }
        }
    }

    @Test func synchronousStandbyTakesOverWithEverythingAcknowledged() async throws {
        let pair = try Pair()
        try pair.primary.waitsForStandby(true)
        try await CommitterServiceTests().run(database: pair.database, url: pair.url) { stage, _ in
            try await self.settle(stage, 1, create("a"))
            let epoch = try pair.epoch(ofStandby: false)
            for number in 2...60 as ClosedRange<UInt64> {
                stage.probe.send(commit(number, transform("a", x: Double(number))))
            }
            // In the middle of it.
            try await stage.probe.until("some results") { $0.results.count > 10 }
            try pair.primary.cluster.kill()
            let acknowledged = stage.probe.now.results.filter { $0.seq > 0 }
            try pair.standby.promote()
            // The last one is new: all others may have had their results before the primary went.
            for number in 2...61 as ClosedRange<UInt64> {
                try await self.settle(stage, number, transform("a", x: Double(number)))
            }
            let after = try pair.connect(toStandby: true)
            let counts = try after.execute("SELECT count(*), count(DISTINCT n), max(seq), max(gseq) FROM commit_log")
            #expect((0..<4).map { counts.int8(0, $0) } == [61, 61, 61, 61])
            for result in acknowledged {
                let row = try after.execute("SELECT seq FROM commit_log WHERE n = \(result.number)")
                #expect(row.int8(0, 0) == Int64(result.seq), "commit \(result.number) was acknowledged")
            }
            #expect(try pair.epoch(ofStandby: true) == epoch)
            try await stage.probe.until("figures") { _ in stage.metric("committer_history_changes_total") >= 1 }
            try await self.formerPrimaryIsNotUsed(pair, stage, after)
        }
    }

    /// The old primary runs again and takes writes; whoever connects anew must turn away from it.
    private func formerPrimaryIsNotUsed(_ pair: Pair, _ stage: Stage, _ after: BlockingConnection) async throws {
        _ = try pair.primary.cluster.start()
        try pair.primary.waitsForStandby(false)
        for number in 62...64 as ClosedRange<UInt64> {
            _ = try after.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'committer-%'")
            try await self.settle(stage, number, transform("a", x: Double(number)))
        }
        #expect(try after.execute("SELECT max(n) FROM commit_log").int8(0, 0) == 64)
        let before = try pair.connect(toStandby: false).execute("SELECT coalesce(max(n), 0) FROM commit_log")
        #expect(try #require(before.int8(0, 0)) <= 60)
    }

    @Test func asynchronousFailoverIsAnotherHistory() async throws {
        let pair = try Pair()
        try await CommitterServiceTests().run(database: pair.database, url: pair.url) { stage, _ in
            try await self.settle(stage, 1, create("a"))
            let epoch = try pair.epoch(ofStandby: false)
            try await self.caughtUp(pair)
            try pair.standby.cluster.stop(.fast)
            // The standby never gets this one.
            try await self.settle(stage, 2, transform("a", x: 2))
            try pair.primary.cluster.kill()
            try pair.standby.start()
            try pair.standby.promote()
            // The session's second commit is lost: its number is due again, and is applied to what is there.
            try await stage.probe.until("the database is back") { _ in stage.isReady() }
            stage.probe.send(commit(2, transform("a", x: 3)))
            try await stage.probe.until("the second result of number 2") { seen in
                seen.results.count { $0.number == 2 && $0.seq == 2 } == 2
            }
            #expect(try pair.epoch(ofStandby: true) != epoch)
            let row = try pair.connect(toStandby: true).execute("SELECT position_x FROM element_geometry")
            #expect(row.float8(0, 0) == 3)
        }
    }

    /// The upkeep's own session waits for nobody. What it notes is what commits do, or the next failover would be taken
    /// for one that lost something.
    @Test func upkeepNotesThatCommitsWaitForTheStandby() throws {
        let pair = try Pair()
        try pair.primary.waitsForStandby(true)
        let round = try Upkeep(logDays: 7, sessionDays: 30).begin(pair.database.connectionString)
        guard case .history? = try round.step() else {
            Issue.record("the history was not noted")
            return
        }
        let history = try pair.connect(toStandby: false).execute("SELECT synchronous FROM history")
        #expect(history.bool(0, 0) == true)
    }

    private func caughtUp(_ pair: Pair) async throws {
        let server = try pair.connect(toStandby: false)
        let sql = "SELECT pg_current_wal_lsn() <= min(replay_lsn) FROM pg_stat_replication"
        try await eventually("the standby has everything") { try server.execute(sql).bool(0, 0) == true }
    }

    /// While the standby is away nothing is acknowledged: neither a new commit nor one that is there already.
    @Test func lostStandbyHoldsEveryAcknowledgementBack() async throws {
        let pair = try Pair()
        try pair.primary.waitsForStandby(true)
        try await CommitterServiceTests().run(database: pair.database) { stage, _ in
            try await self.settle(stage, 1, create("a"))
            let answered = stage.probe.now.results.count
            try pair.standby.cluster.stop(.fast)
            stage.probe.send(commit(1, create("a")))
            let watcher = try pair.connect(toStandby: false)
            try await stage.probe.until("the repetition waits for the standby") { _ in
                let waiting = try? watcher.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                return waiting?.int8(0, 0) ?? 0 > 0
            }
            // Nobody ends that wait but the client: its deadline makes the outcome unknown.
            try await stage.probe.until("the deadline", within: .seconds(40)) { _ in
                stage.metric("committer_batches_total{outcome=\"lost\"}") > 0
            }
            #expect(stage.probe.now.results.count == answered)
            try pair.standby.start()
            try await self.settle(stage, 2, transform("a", x: 2))
            let log = try watcher.execute("SELECT count(*), count(DISTINCT n) FROM commit_log")
            #expect(log.int8(0, 0) == 2 && log.int8(0, 1) == 2)
        }
    }

    @Test func cancelledWaitIsNoAcknowledgement() async throws {
        let pair = try Pair()
        try pair.primary.waitsForStandby(true)
        try await CommitterServiceTests().run(database: pair.database) { stage, _ in
            try await self.settle(stage, 1, create("a"))
            try pair.standby.cluster.stop(.fast)
            stage.probe.send(commit(2, transform("a", x: 2)))
            let watcher = try pair.connect(toStandby: false)
            let cancel = """
                SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                WHERE wait_event = 'SyncRep' AND application_name LIKE 'committer-%'
                """
            // It is written here and nowhere else: the server calls that a success, with a warning.
            try await stage.probe.until("an unknown outcome") { _ in
                _ = try? watcher.execute(cancel)
                return stage.metric("committer_batches_total{outcome=\"lost\"}") > 0
            }
            #expect(try watcher.execute("SELECT max(n) FROM commit_log").int8(0, 0) == 2)
            #expect(!stage.probe.now.results.contains { $0.number == 2 })
            try pair.standby.start()
            try await self.settle(stage, 2, transform("a", x: 2))
            try await stage.probe.until("figures") { _ in
                stage.metric("committer_unknown_outcomes_total{outcome=\"written\"}") == 1
            }
        }
    }
}
