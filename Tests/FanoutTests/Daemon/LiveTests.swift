import Boot
import Canvas
import CommitterDaemon
import FanoutCore
import FanoutDaemon
import PipelineTestKit
import Postgres
import Testing
import Timing
import Wire

/// A whole fan-out over real links on a real PostgreSQL.
@Suite(.timeLimit(.minutes(1)), .serialized) struct LiveTests {
    private static func join(
        _ request: UInt64, _ user: String = "ann", session: String = "", resume: Position? = nil
    ) -> Join {
        Join(
            request: request, room: "r", connection: request, member: .named(user), session: session, resume: resume)
    }

    @Test func roomsLogAndHeadsAreRead() async throws {
        try await LiveStage.run { stage in
            for n in 1...3 { try stage.commit("r", "e", x: n, n: n) }
            stage.gateway.send(Self.join(1))
            try await eventually("the answer") { !stage.gateway.records.isEmpty }
            let joined = try #require(stage.gateway.records.joined.first)
            #expect(joined.content == .elements(Array("[\(LiveStage.json("e", x: 3))]".utf8)))
            #expect(joined.position.seq == 3)
            // From the log, exactly.
            stage.gateway.send(Self.join(2, resume: Position(epoch: joined.position.epoch, seq: 1)))
            try await eventually("the second answer") { stage.gateway.records.joined.count == 2 }
            guard case .updates(let missed) = stage.gateway.records.joined[1].content else {
                Issue.record("no updates")
                return
            }
            #expect(missed.map(\.seq) == [2, 3])
            #expect(missed.last?.elements == [UpdatedElement(id: "e", json: Array(LiveStage.json("e", x: 3).utf8))])
            #expect(missed.last?.number == 3)
            // Nobody publishes it: the heads tell.
            try stage.commit("r", "e", x: 4, n: 4)
            try await eventually("the lost update") { stage.gateway.records.seqs == [4] }
            try await eventually("the gap among the figures") {
                stage.context.metrics.text().contains("touchsync_fanout_gaps_total 1")
            }
        }
    }

    @Test func missingColumnIsNamed() throws {
        let database = try LivePostgres.freshDatabase()
        let connection = try database.connect()
        defer { connection.close() }
        let heads = try connection.execute("SELECT ''::text AS epoch, 1::int2 AS shard, 1::int8 AS gseq")
        #expect(throws: PostgresError(.undefinedColumn, "the result has no column chain")) {
            try RowReader.heads(heads)
        }
        let log = try connection.execute("SELECT 1::int2 AS shard, 1::int8 AS gseq, 'r'::text AS room_id")
        var reader = RowReader()
        #expect(throws: PostgresError(.undefinedColumn, "the result has no column seq")) { try reader.log(log) }
        withExtendedLifetime(database) {}
    }

    @Test func itRestsUntilItHasSeenTheDatabase() async throws {
        let cluster = try LivePostgres.ownCluster()
        let database = try cluster.freshDatabase()
        _ = try Migrator(CommitterDaemon.migrations).migrate(database.connectionString)
        try cluster.cluster.stop(.immediate)
        let away: (inout SettingValues) -> Void = { $0.set(SharedSettings.databaseURL, database.connectionString) }
        try await LiveStage.run(away) { stage in
            #expect(stage.gateway.isResting && stage.coalescer.isResting)
            _ = try cluster.cluster.start()
            try await eventually("it serves") { !stage.gateway.isResting && !stage.coalescer.isResting }
            // Rooms in memory need no database.
            try cluster.cluster.stop(.immediate)
            try await eventually("the loss") {
                stage.context.health.current.reasons.contains { $0.check == "database" }
            }
            #expect(!stage.gateway.isResting)
        }
    }

    /// In a database without any table its statements cannot even be prepared.
    @Test func itWaitsForTheSchemaThatItNeeds() async throws {
        let database = try LivePostgres.freshDatabase()
        let there: (inout SettingValues) -> Void = { $0.set(SharedSettings.databaseURL, database.connectionString) }
        try await LiveStage.run(there) { stage in
            try await eventually("it says so") {
                stage.context.health.current.reasons.contains { $0.text.contains("schema is too old") }
            }
            #expect(stage.gateway.isResting)
            _ = try Migrator(CommitterDaemon.migrations).migrate(database.connectionString)
            try await eventually("it serves") {
                !stage.gateway.isResting && !stage.context.health.current.reasons.contains { $0.check == "database" }
            }
        }
    }

    @Test func itNeedsASchemaThatThereIs() {
        #expect(CommitterDaemon.migrations.contains { $0.version == RoomStatement.schemaVersion })
    }

    /// The log's day goes while an app is away, and while the fan-out itself is behind.
    @Test func aDroppedDayGivesTheWholeRoom() async throws {
        try await LiveStage.run { stage in
            for n in 1...3 { try stage.commit("r", "e", x: n, n: n) }
            stage.gateway.send(Self.join(1))
            try await eventually("the answer") { stage.gateway.records.joined.count == 1 }
            let epoch = stage.gateway.records.joined[0].position.epoch
            try stage.dropLog()
            stage.gateway.send(Self.join(2, resume: Position(epoch: epoch, seq: 1)))
            try await eventually("the whole room") { stage.gateway.records.joined.count == 2 }
            #expect(
                stage.gateway.records.joined[1].content == .elements(Array("[\(LiveStage.json("e", x: 3))]".utf8)))
            // Written and dropped between two looks at the heads: the stream jumps, and says so.
            try stage.commit("r", "e", x: 4, n: 4, dropped: true)
            try await eventually("the reset") { stage.gateway.records.positions.contains { $0.isReset } }
            #expect(stage.gateway.records.positions.last?.position == Position(epoch: epoch, seq: 4))
            #expect(stage.gateway.records.seqs == [])
            try stage.commit("r", "e", x: 5, n: 5)
            try await eventually("the stream goes on") { stage.gateway.records.seqs == [5] }
        }
    }

    /// What one person changes in a few commits may be more than a process has memory.
    @Test func aLogThatIsTooLongGivesTheWholeRoom() async throws {
        try await LiveStage.run { stage in
            for n in 1...3 { try stage.commit("r", "e", x: n, n: n) }
            stage.gateway.send(Self.join(1))
            try await eventually("the answer") { stage.gateway.records.joined.count == 1 }
            let start = Position(epoch: stage.gateway.records.joined[0].position.epoch, seq: 0)
            stage.gateway.send(Self.join(2, resume: start))
            try await eventually("what was missed") { stage.gateway.records.joined.count == 2 }
            let long = "json_build_object('pad', repeat('x', 17 << 20))"
            _ = try stage.database.connect().execute("UPDATE commit_log SET before = \(long) WHERE seq > 1")
            stage.gateway.send(Self.join(3, resume: start))
            try await eventually("the whole room") { stage.gateway.records.joined.count == 3 }
            let contents = stage.gateway.records.joined.map(\.content)
            guard case .updates(let updates) = contents[1] else {
                Issue.record("\(contents[1])")
                return
            }
            #expect(updates.map(\.seq) == [1, 2, 3] && contents[2] == contents[0])
        }
    }

    @Test func rowsThatWereLostMakeAnotherHistory() async throws {
        try await LiveStage.run { stage in
            for n in 1...3 { try stage.commit("r", "e", x: n, n: n, chain: n) }
            stage.gateway.send(Self.join(1))
            try await eventually("the answer") { stage.gateway.records.joined.count == 1 }
            let epoch = stage.gateway.records.joined[0].position.epoch
            // As after a backup was restored: the same numbers, another row.
            try stage.commit("r", "e", x: 9, n: 3, chain: 77, replaces: true)
            try await eventually("the reset") {
                stage.gateway.records.positions.contains { $0.isReset && $0.position.epoch != epoch }
            }
            let now = try stage.database.connect().execute("SELECT value FROM meta WHERE key = 'epoch'").text(0, 0)
            #expect(stage.gateway.records.positions.last?.position.epoch.text == now)
            stage.gateway.send(Self.join(2, resume: Position(epoch: epoch, seq: 3)))
            try await eventually("the whole room") { stage.gateway.records.joined.count == 2 }
            #expect(
                stage.gateway.records.joined[1].content == .elements(Array("[\(LiveStage.json("e", x: 9))]".utf8)))
            try await eventually("the history among the figures") {
                stage.context.metrics.text().contains("touchsync_fanout_histories_replaced_total 1")
            }
        }
    }

    @Test func sessionsAreIssuedAndClaimed() async throws {
        try await LiveStage.run { stage in
            stage.gateway.send(Self.join(1))
            try await eventually("a session") { stage.gateway.records.joined.count == 1 }
            let first = stage.gateway.records.joined[0]
            #expect(first.sessionEpoch == 1)
            stage.gateway.send(Self.join(2, session: first.session))
            try await eventually("the same session") { stage.gateway.records.joined.count == 2 }
            let second = stage.gateway.records.joined[1]
            #expect(second.sid == first.sid)
            #expect(second.sessionEpoch == 2)
            let claimed = SessionClaimed(room: "r", sid: first.sid, sessionEpoch: 2)
            #expect(stage.gateway.records.contains(.sessionClaimed(claimed)))
            stage.gateway.send(Self.join(3, "eve", session: first.session))
            try await eventually("a refusal") { stage.gateway.records.refusals.map(\.code) == [.sessionExpired] }
        }
    }

    @Test func previewsOfAClosedGestureStayOutEvenAfterARestart() async throws {
        try await LiveStage.run { stage in
            try stage.commit("r", "old", x: 1, n: 1, gesture: 9)
            try stage.ageLog(of: "r")
            try stage.commit("r", "e", x: 1, n: 2, gesture: 5)
            try stage.commit("r", "f", x: 1, from: 3, through: 700)
            stage.gateway.send(Self.join(1), Self.join(2, "ben"))
            try await eventually("the answers") { stage.gateway.records.joined.count == 2 }
            stage.coalescer.send(
                Preview.by("s-ann", 1, element: "e", gesture: 5), Preview.by("s-ann", 1, element: "e", gesture: 6),
                Preview.by("s-ann", 1, element: "old", gesture: 8))
            try await eventually("previews") { stage.gateway.records.previews.count == 2 }
            #expect(stage.gateway.records.previews.map(\.gesture) == [6, 8])
            #expect(stage.gateway.records.previews.map(\.after) == [2, 1])
        }
    }

    @Test func roomsAreReadWithoutJoining() async throws {
        try await LiveStage.run { stage in
            try stage.commit("r", "e", x: 1, n: 1)
            stage.gateway.send(RoomRead(request: 1, room: "r"), RoomRead(request: 2, room: "never"))
            try await eventually("both") { stage.gateway.records.count == 2 }
            let outcomes = stage.gateway.records.compactMap { record -> (UInt64, RoomState.Outcome)? in
                if case .roomState(let state) = record { (state.request, state.outcome) } else { nil }
            }
            let byRequest = Dictionary(outcomes) { first, _ in first }
            #expect(byRequest[2] == .neverUsed)
            guard case .state(let position, let json) = byRequest[1] else {
                Issue.record("no state")
                return
            }
            #expect(position.seq == 1)
            #expect(json == Array("[\(LiveStage.json("e", x: 1))]".utf8))
        }
    }

    @Test func aHistoryComesFromTheLogAndSaysWhereItBegins() async throws {
        try await LiveStage.run { stage in
            for n in 1...3 { try stage.commit("r", "e", x: n, n: n) }
            let page = try await Self.history(of: "r", after: 1, limit: 1, at: stage).get()
            let entry = try #require(page.entries.first)
            #expect(page.entries.count == 1 && page.next == 2 && page.oldest == 1)
            #expect(entry.seq == 2 && entry.event == "element:transformed" && entry.user == "ann")
            #expect(entry.sid == "s-ann" && entry.number == 2)
            #expect(entry.at.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(entry.at)")
            let after = Array(LiveStage.json("e", x: 2).utf8)
            #expect(entry.changes == [HistoryEntry.Change(element: "e", before: [], after: after)])
            let last = try await Self.history(of: "r", after: 1, limit: 200, at: stage).get()
            #expect(last.entries.map(\.seq) == [2, 3] && last.next == nil)
            try stage.dropLog()
            let none = try await Self.history(of: "r", after: 0, limit: 50, at: stage).get()
            #expect(none == HistoryPage(entries: [], next: nil, oldest: nil))
            try stage.commit("r", "e", x: 4, n: 4)
            let kept = try await Self.history(of: "r", after: 0, limit: 50, at: stage).get()
            #expect(kept.entries.map(\.seq) == [4] && kept.oldest == 4)
            let unused = try await Self.history(of: "never", after: 0, limit: 50, at: stage)
            #expect(unused.failure?.code == .notFound)
        }
    }

    @Test func aPageOfLargeEntriesStaysWithinItsBytes() async throws {
        try await LiveStage.run { stage in
            for n in 1...4 { try stage.commit("r", "e", x: n, n: n) }
            let connection = try stage.database.connect()
            try connection.executeScript(
                """
                UPDATE commit_log SET after = ('{"id":"e","own":"' || repeat('x', CASE seq WHEN 3 THEN 2000000 ELSE
                    400000 END) || '"}')::json WHERE room_id = 'r'
                """)
            connection.close()
            var pages: [[UInt64]] = []
            var after: UInt64? = 0
            while let from = after, pages.count < 9 {
                let page = try await Self.history(of: "r", after: from, limit: 50, at: stage).get()
                pages.append(page.entries.map(\.seq))
                after = page.next
            }
            #expect(pages == [[1, 2], [3], [4]])
        }
    }

    private static func history(
        of room: Identifier, after: UInt64, limit: UInt16, at stage: LiveStage
    ) async throws -> Result<HistoryPage, Refusal> {
        let request = UInt64(stage.gateway.records.histories.count) + 1
        stage.gateway.send(HistoryRead(request: request, room: room, after: after, limit: limit))
        try await eventually("the page") { stage.gateway.records.histories.last?.request == request }
        return try #require(stage.gateway.records.histories.last).outcome
    }

    @Test func unreadableEnvelopesHurtNobody() async throws {
        try await LiveStage.run { stage in
            for bytes in [[], [1, 2, 3], [0x54, 0x53, 9, 0, 0, 0, 0, 0]] as [[UInt8]] {
                stage.gateway.send(bytes: bytes)
            }
            stage.gateway.send(Self.join(1))
            try await eventually("the answer") { stage.gateway.records.joined.count == 1 }
            #expect(stage.context.metrics.text().contains("touchsync_envelopes_malformed_total 3"))
        }
    }

    @Test func aGatewayThatComesBackGetsWhatItMissed() async throws {
        try await LiveStage.run { stage in
            stage.gateway.send(Self.join(1))
            try await eventually("the answer") { stage.gateway.records.joined.count == 1 }
            let epoch = stage.gateway.records.joined[0].position.epoch
            try await stage.gateway.stop()
            for n in 1...2 { try stage.commit("r", "e", x: n, n: n) }
            let back = try FakePeer(name: "gateway-1", to: stage.endpoint)
            try await eventually("the link") { back.isConnected }
            back.send(
                RoomInterest(
                    room: "r", position: Position(epoch: epoch, seq: 0),
                    occupants: [RoomInterest.Occupant(connection: 1, member: .named("ann"))]))
            try await eventually("what it missed") { back.records.seqs == [1, 2] }
            try await back.stop()
        }
    }

    @Test func aGatewayThatIsFarTooSlowAsksForWhatItMissed() async throws {
        // Little room for it; and the database, which knows nothing of the test's updates, is not asked.
        let tight: (inout SettingValues) -> Void = { $0.set(FanoutSettings.gatewayBytes, 4 << 20) }
        try await LiveStage.run(tight, headInterval: .seconds(10)) { stage in
            let slow = try FakePeer(name: "gateway-2", to: stage.endpoint, receiveMark: 1)
            try await eventually("the link") { slow.isConnected }
            stage.gateway.send(Self.join(1))
            slow.send(Self.join(2, "ben"))
            try await eventually("the answers") {
                stage.gateway.records.joined.count == 1 && slow.records.joined.count == 1
            }
            slow.pause(true)
            let count = UInt64(120)
            let json = Array(#"{"id":"e","text":"\#(String(repeating: "x", count: 262_144))"}"#.utf8)
            for seq in 1...count {
                stage.coalescer.send(
                    Update(
                        shard: UInt8(Shard.of(room: "r")), gseq: seq, room: "r", seq: seq, event: .updated,
                        user: "ann", sid: "s", number: 0,
                        elements: [UpdatedElement(id: "e", json: json)]))
                // The other gateway notices nothing.
                try await eventually("update \(seq) at the quick one") { stage.gateway.records.seqs.last == seq }
            }
            #expect(stage.gateway.records.seqs == Array(1...count))
            slow.pause(false)
            // Where records are missing, a position says so; what follows it is contiguous again.
            try await eventually("the end of the stream") { Self.end(of: slow.records) == count }
            #expect(!slow.records.positions.isEmpty)
            #expect(slow.records.seqs.count < count)
            try await slow.stop()
        }
    }

    /// Where a stream ends; nil when it has a gap that no position tells.
    private static func end(of records: [GatewayRecord]) -> UInt64? {
        var at: UInt64 = 0
        for record in records {
            switch record {
            case .update(let update):
                guard update.seq == at + 1 else { return nil }
                at = update.seq
            case .roomPosition(let position): at = max(at, position.position.seq)
            default: break
            }
        }
        return at
    }

    @Test func itIsReadyWhenTheDatabaseAnswers() async throws {
        try await LiveStage.run { stage in
            try await eventually("ready") {
                !stage.context.health.current.reasons.contains { $0.check == "database" }
            }
            try await eventually("both connections") {
                stage.context.metrics.text().contains("touchsync_fanout_database_connections 2")
            }
        }
    }
}
