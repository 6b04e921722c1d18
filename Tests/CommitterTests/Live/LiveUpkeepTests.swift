import Boot
import Canvas
import CommitterCore
import CommitterDaemon
import PipelineTestKit
import Postgres
import Testing
import Wire

@Suite(.timeLimit(.minutes(2))) struct LiveUpkeepTests {
    let tables: LiveTables

    init() throws { self.tables = try LiveTables() }

    /// One step of the log's upkeep, as if so many days had passed; nil when there is nothing left to do.
    private func step(days: Int = 0, keep: Int = 7) throws -> String? {
        try self.tables.rows("SELECT maintain_log(\(keep), clock_timestamp() + interval '\(days) days')").text(0, 0)
    }

    private func steps(days: Int = 0, keep: Int = 7) throws -> [String] {
        var done: [String] = []
        while let step = try self.step(days: days, keep: keep) { done.append(step) }
        return done
    }

    private func write(_ commits: [Commit]) throws {
        var ledger = ledger()
        ledger.admit(commits)
        let settlement = try ledger.run(on: self.tables)
        try #require(settlement.refusals.allSatisfy { $0 == nil }, "\(settlement.texts)")
    }

    /// What a whole round finds.
    private func findings(userSessions: Int = 1000) throws -> UpkeepFindings {
        let upkeep = Upkeep(logDays: 7, sessionDays: 30, userSessions: userSessions)
        let round = try upkeep.begin(self.tables.database.connectionString)
        while try round.step() != nil {}
        return round.findings
    }

    // MARK: The log

    @Test(arguments: [-8, 8]) func nothingIsDroppedByAClockThatIsDaysOff(days: Int64) throws {
        let time = try #require(try self.tables.number("SELECT extract(epoch FROM clock_timestamp())::bigint"))
        let machine = time - days * 86_400
        let upkeep = Upkeep(logDays: 7, sessionDays: 30, clock: { machine })
        let round = try upkeep.begin(self.tables.database.connectionString)
        guard case .history? = try round.step() else {
            Issue.record("the history was not noted")
            return
        }
        let error = #expect(throws: WrongClock.self) { try round.step() }
        #expect(abs((error?.secondsAhead ?? 0) - days * 86_400) < 60)
        #expect(try self.tables.number("SELECT count(*) FROM log_partitions()") == 1)
    }

    @Test func daysAreMadeAheadAndDroppedWhole() throws {
        try self.write([commit(1, create("a"))])
        #expect(try self.steps().count == 3)
        #expect(try self.steps() == [])
        #expect(try self.steps(days: 1).count == 1)
        let before = try self.tables.number("SELECT count(*) FROM log_partitions()")
        #expect(before == 5)
        // The first day is over for a week only on the eighth day after it.
        #expect(try !self.steps(days: 7).contains("dropped commit_log_first"))
        #expect(try self.tables.number("SELECT count(*) FROM commit_log") == 1)
        #expect(try self.steps(days: 8).contains("dropped commit_log_first"))
        #expect(try self.tables.number("SELECT count(*) FROM commit_log") == 0)
        // The rows' numbers live on in the room, the shard and the session.
        try self.write([commit(2, transform("a", x: 1))])
        #expect(try self.tables.number("SELECT seq FROM commit_log") == 2)
    }

    @Test func aCommitNeedsNoPartition() throws {
        try self.tables.connection.executeScript("DROP TABLE commit_log_first")
        try self.write([commit(1, create("a")), commit(2, transform("a", x: 1))])
        #expect(try self.tables.number("SELECT count(*) FROM commit_log_rest") == 2)
        #expect(try self.steps().count == 4)
        #expect(try self.tables.number("SELECT count(*) FROM commit_log_rest") == 0)
        #expect(try self.tables.number("SELECT max(seq) FROM read_room_log('room', 0, 10)") == 2)
        #expect(
            self.tables.failure("INSERT INTO commit_log SELECT * FROM commit_log WHERE seq = 2") == .uniqueViolation)
    }

    private static let rowsDropped = "dropped rows of commit_log_rest"

    /// Rows of a day to come, in three rooms of three shards. As long as the day has no partition they have none.
    private func fill(day: Int, rows: Int) throws {
        _ = try self.tables.rows(
            """
            INSERT INTO commit_log (room_id, seq, gseq, shard, at, event, user_id, session, n, body_hash)
            SELECT 'room' || i % 3, i / 3 + 1, i / 3 + 1, i % 3, date_trunc('day', clock_timestamp(), 'UTC')
                + interval '\(day) days 1 hour' + i * interval '1 ms', 'element:deleted', 'ann', 's', i / 3 + 1, 7
            FROM generate_series(0, \(rows - 1)) AS i
            """)
    }

    /// Rows written while their day had no partition are moved to it, unless there are too many to move quickly.
    @Test(arguments: [10_000, 10_001]) func aDayOfManyRowsStaysWhereItIs(rows: Int) throws {
        try self.fill(day: 2, rows: rows)
        let made = try self.steps()
        #expect(made.count == (rows > 10_000 ? 2 : 3))
        #expect(try self.tables.number("SELECT count(*) FROM commit_log_rest") == (rows > 10_000 ? Int64(rows) : 0))
        #expect(try self.tables.number("SELECT count(*) FROM commit_log") == Int64(rows))
        #expect(try self.steps() == [], "it is not tried again and again")
        // The others come and go as before, the oldest first. What has no partition goes in steps.
        let days = made.map { "dropped\($0.dropFirst(4))" }
        let old = rows > 10_000 ? [days[0], Self.rowsDropped, Self.rowsDropped, days[1]] : days
        let later = try self.steps(days: 11)
        #expect(later.count == 5 + old.count && Array(later.dropFirst(4)) == ["dropped commit_log_first"] + old)
        #expect(try self.tables.number("SELECT count(*) FROM commit_log") == 0)
    }

    @Test func oldDaysAreDroppedWhileADayCannotBeMade() throws {
        #expect(try self.steps().count == 3)
        try self.fill(day: 8, rows: 10_001)
        let done = try self.steps(days: 8)
        #expect(done.count == 4 && done.last == "dropped commit_log_first")
        #expect(try self.tables.number("SELECT count(*) FROM commit_log_rest") == 10_001)
    }

    /// Attaching a day would search the default partition for so long again, under a lock.
    @Test func noDayIsMadeWhenTheSearchForItsRowsTakesLong() throws {
        let connection = try self.tables.database.connect()
        // A clock that is found before the server's, and goes on by three seconds whenever it is read.
        try connection.executeScript(
            """
            CREATE SCHEMA slow;
            CREATE SEQUENCE slow.reads;
            CREATE FUNCTION slow.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
            AS 'SELECT pg_catalog.clock_timestamp() + nextval(''slow.reads'') * interval ''3 seconds''';
            SET search_path = slow, public, pg_catalog
            """)
        #expect(try connection.execute("SELECT maintain_log(7)").text(0, 0) == nil)
        #expect(try self.tables.number("SELECT last_value FROM slow.reads") == 6, "two for each of three days")
        // Old days go nevertheless.
        let later = "SELECT maintain_log(7, pg_catalog.clock_timestamp() + interval '8 days')"
        #expect(try connection.execute(later).text(0, 0) == "dropped commit_log_first")
        #expect(try self.steps().count == 4)
    }

    @Test func aRoundFindsTheDaysThatItCouldNotMake() throws {
        try self.fill(day: 2, rows: 10_001)
        #expect(try self.findings() == UpkeepFindings(missingDays: 1))
        _ = try self.tables.rows("DELETE FROM commit_log_rest")
        #expect(try self.findings() == UpkeepFindings())
    }

    /// Whoever reads a log of which rows are being dropped misses some at its beginning, and none in between.
    @Test func rowsAreDroppedFromTheOldestOn() throws {
        try self.fill(day: 2, rows: 24_000)
        while let step = try self.step(days: 11), step != Self.rowsDropped {}
        let left = try self.tables.rows(
            "SELECT count(*), min(gseq), max(gseq) FROM commit_log_rest GROUP BY shard ORDER BY 1")
        #expect((0..<left.count).map { left.int8($0, 0) } == [6000, 8000])
        #expect((0..<left.count).allSatisfy { left.int8($0, 2) == 8000 })
        #expect((0..<left.count).map { left.int8($0, 1) } == [2001, 1])
        #expect(try self.steps(days: 11).filter { $0 == Self.rowsDropped }.count == 2)
    }

    @Test func onlyOneMaintainsAtATime() throws {
        let other = try self.tables.database.connect()
        try other.executeScript("BEGIN")
        #expect(try other.execute("SELECT maintain_log(7)").text(0, 0) != nil)
        #expect(try self.steps() == [])
        try other.executeScript("COMMIT")
        #expect(try self.steps().count == 2)
    }

    /// Days come and go under a committer that never stops.
    @Test func upkeepFailsNoCommit() throws {
        let database = self.tables.database
        let thread = TestThread {
            guard let other = try? LiveTables(database) else { return }
            for days in 0..<12 {
                while (try? other.rows("SELECT maintain_log(1, clock_timestamp() + interval '\(days) days')"))?
                    .text(0, 0) != nil
                {}
            }
        }
        try self.write([commit(1, create("a"))])
        for number in 2...60 as ClosedRange<UInt64> { try self.write([commit(number, transform("a", x: 1))]) }
        thread.join()
        #expect(try self.tables.number("SELECT hw FROM sessions") == 60)
        #expect(try self.tables.number("SELECT max(upper)::date - current_date FROM log_partitions()") ?? 0 >= 0)
    }

    @Test func theLogIsReadByItsKeys() throws {
        _ = try self.steps()
        for sql in [
            "SELECT * FROM commit_log WHERE room_id = 'r' AND seq > 5 ORDER BY room_id, seq LIMIT 10",
            "SELECT * FROM commit_log WHERE shard = 3::smallint AND gseq > 5 ORDER BY shard, gseq LIMIT 10",
        ] {
            try self.tables.connection.executeScript("SET enable_seqscan = off; SET enable_sort = off")
            let plan = try self.tables.rows("EXPLAIN \(sql)")
            let text = (0..<plan.count).compactMap { plan.text($0, 0) }.joined(separator: "\n")
            #expect(!text.contains("Seq Scan") && !text.contains("Sort  "), "\(text)")
        }
    }

    // MARK: Sessions

    @Test func requestsWithoutAKeyAreForgottenAfterADay() throws {
        let keyed = SessionKey.http(String(repeating: "0", count: 32))
        let unkeyed = SessionKey.http("1y2p0ij32e8e7")
        try self.write([commit(1, create("a"), session: keyed), commit(1, create("b"), session: unkeyed)])
        _ = try self.tables.rows("UPDATE sessions SET updated_at = updated_at - interval '3 days'")
        _ = try self.tables.rows("SELECT sweep_sessions(30, 7)")
        #expect(try self.tables.rows("SELECT session FROM sessions").text(0, 0) == keyed.text)
    }

    @Test func oldestIdleSessionsOfAUserEndWhenThereAreTooMany() throws {
        let names = (0..<5).map { self.name($0 - 10) }
        var limits = CommitterLimits()
        limits.userSessions = 2
        func write(_ commits: [Commit]) throws -> [RefusalCode?] {
            var ledger = ShardLedger(shard: Shard.of(room: "room"), rules: .defaults, limits: limits)
            ledger.admit(commits)
            return try ledger.run(on: self.tables).refusals.map { $0?.code }
        }
        let creations = zip(names, ["a", "b", "c"] as [Identifier]).map { commit(1, create($1), session: $0) }
        #expect(
            try write(creations + [commit(1, create("z"), session: names[4], user: "bob")]) == [nil, nil, nil, nil])
        #expect(try self.tables.number("SELECT count(*) FROM sessions") == 4, "those in use stay")
        _ = try self.tables.rows("UPDATE sessions SET updated_at = updated_at - interval '1 hour'")
        #expect(try write([commit(1, create("d"), session: names[3])]) == [nil])
        #expect(try self.tables.number("SELECT count(*) FROM sessions WHERE user_id = 'ann'") == 2)
        let later = [
            commit(1, create("a"), session: names[0]), commit(2, create("e"), session: names[1]),
            commit(1, create("e"), session: SessionKey.gateway(sid: names[1], sessionEpoch: 1)),
            commit(2, create("e"), session: names[2]), commit(1, create("f"), session: "------------BBB", user: "bob"),
        ]
        // Users take turns: the second answer is to bob.
        #expect(try write(later) == [.sessionExpired, nil, .sessionExpired, .sessionExpired, nil])
        #expect(try self.tables.rows("SELECT * FROM claim_session('room', '\(names[1])', 'ann')").count == 0)
        #expect(try self.tables.rows("SELECT * FROM claim_session('room', '\(names[2])', 'ann')").int4(0, 0) == 2)
    }

    /// A session's name, made that many minutes from now: the time in eight characters that sort by it, and a rest.
    private func name(_ minutes: Int) -> Identifier {
        let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
        let time = Int64(WallClock.milliseconds()) + Int64(minutes) * 60_000
        let digits = (1...8).map { place in Int(time >> (48 - 6 * Int64(place)) & 63) }
        return Identifier(String(digits.map { alphabet[$0] }) + "AAAAAAA")
    }

    private func claim(_ session: Identifier, user: Identifier = "ann") throws -> Int32? {
        try self.tables.rows("SELECT claim FROM claim_session('room', '\(session)', '\(user)')").int4(0, 0)
    }

    private func setBound(_ most: Int) throws {
        _ = try self.tables.rows("UPDATE meta SET value = '\(most)' WHERE key = 'user_sessions'")
    }

    /// Somebody who only looks makes rows as well.
    @Test func claimsOfAUserAreBounded() throws {
        try self.setBound(5)
        let names = (0..<31).map { self.name($0 - 40) }
        #expect(try self.claim(names[0], user: "bob") == 2)
        for name in names[1...29] { #expect(try self.claim(name) == 2) }
        // Those in use stay, up to twice as many.
        let left = try self.tables.rows("SELECT session FROM sessions WHERE user_id = 'ann' ORDER BY session")
        #expect((0..<left.count).map { left.text($0, 0) } == names[20...29].map(\.text))
        // What has ended is not begun anew, and the others go on.
        #expect(try self.claim(names[19]) == nil && self.claim(names[20]) == 3)
        _ = try self.tables.rows("UPDATE sessions SET updated_at = updated_at - interval '1 hour'")
        #expect(try self.claim(names[22]) == 3, "a claim that adds nothing ends nothing")
        #expect(try self.tables.number("SELECT count(*) FROM sessions WHERE user_id = 'ann'") == 10)
        #expect(try self.claim(names[30]) == 2)
        let kept = try self.tables.rows("SELECT session FROM sessions WHERE user_id = 'ann' ORDER BY session")
        let used = [names[22]] + names[26...30]
        #expect((0..<kept.count).map { kept.text($0, 0) } == used.map(\.text))
        #expect(try self.tables.number("SELECT count(*) FROM sessions WHERE user_id = 'bob'") == 1)
    }

    /// One that would be among the next to go is not begun at all, and nothing else ends for it.
    @Test func aNameThatTwiceTheBoundAreYoungerThanIsNotClaimed() throws {
        try self.setBound(5)
        let names = (0..<12).map { self.name($0 - 20) }
        for name in names[1...9] { #expect(try self.claim(name) == 2) }
        #expect(try self.claim(names[0]) == 2, "it is the tenth")
        #expect(try self.claim(names[10]) == 2 && self.claim(names[0]) == nil)
        #expect(try self.tables.number("SELECT count(*) FROM sessions") == 10)
        _ = try self.tables.rows("DELETE FROM session_floors")
        #expect(try self.claim(names[0]) == nil)
        #expect(try self.tables.number("SELECT count(*) FROM sessions") == 10)
        #expect(try self.tables.number("SELECT count(*) FROM session_floors") == 0)
        #expect(try self.claim(names[0], user: "bob") == 2)
        #expect(try self.claim(names[11]) == 2)
    }

    /// A batch that adds a session beyond all bounds keeps it: its outcome may be asked for again.
    @Test func aBatchDoesNotEndWhatItWrites() throws {
        var limits = CommitterLimits()
        limits.userSessions = 1
        let names = (0..<4).map { self.name($0 - 10) }
        for (name, id) in zip([1, 2, 3, 0].map { names[$0] }, ["a", "b", "c", "d"] as [Identifier]) {
            var ledger = ShardLedger(shard: Shard.of(room: "room"), rules: .defaults, limits: limits)
            ledger.admit([commit(1, create(id), session: name)])
            let expected: [RefusalCode?] = name == names[0] ? [.sessionExpired] : [nil]
            #expect(try ledger.run(on: self.tables).refusals.map { $0?.code } == expected)
        }
        #expect(try self.tables.number("SELECT count(*) FROM sessions") == 2)
        _ = try self.tables.rows("DELETE FROM session_floors")
        var ledger = ShardLedger(shard: Shard.of(room: "room"), rules: .defaults, limits: limits)
        ledger.admit([commit(1, create("d"), session: names[0])])
        #expect(try ledger.run(on: self.tables).refusals == [nil])
        #expect(try self.tables.number("SELECT count(*) FROM sessions WHERE session = '\(names[0])'") == 1)
    }

    @Test func batchesTellClaimsTheBound() throws {
        let bound = "SELECT value FROM meta WHERE key = 'user_sessions'"
        #expect(try self.tables.rows(bound).text(0, 0) == "1000")
        var limits = CommitterLimits()
        limits.userSessions = 7
        var ledger = ShardLedger(shard: Shard.of(room: "room"), rules: .defaults, limits: limits)
        ledger.admit([commit(1, create("a"))])
        _ = try ledger.run(on: self.tables)
        #expect(try self.tables.rows(bound).text(0, 0) == "7")
        // An operator's command does not know the committers' setting.
        try self.write([commit(1, create("b"), session: SessionKey.command("1"), user: "operator")])
        #expect(try self.tables.rows(bound).text(0, 0) == "7")
    }

    @Test func aRoundFindsTheBoundThatAnotherCommitterSet() throws {
        #expect(try self.findings(userSessions: 7).otherUserSessions == "1000")
        #expect(try self.findings(userSessions: 7).otherUserSessions == nil)
        var limits = CommitterLimits()
        limits.userSessions = 9
        var ledger = ShardLedger(shard: Shard.of(room: "room"), rules: .defaults, limits: limits)
        ledger.admit([commit(1, create("a"))])
        _ = try ledger.run(on: self.tables)
        #expect(try self.findings(userSessions: 7).otherUserSessions == "9")
        #expect(try self.tables.rows("SELECT value FROM meta WHERE key = 'user_sessions'").text(0, 0) == "7")
    }

    /// What a user can undo outlives the session in which it was done.
    @Test func undoOutlivesASession() throws {
        let names = (0..<31).map { self.name($0 - 40) }
        try self.write([commit(1, create("a"), session: names[0])])
        try self.setBound(5)
        for name in names[1...30] { #expect(try self.claim(name) == 2) }
        #expect(try self.tables.number("SELECT count(*) FROM sessions WHERE session = '\(names[0])'") == 0)
        var later = ledger()
        later.admit([commit(1, EncodedEdit(UndoEdit()), session: names[30], sessionEpoch: 2)])
        let undone = try later.run(on: self.tables)
        #expect(undone.refusals == [nil] && undone.updates.map(\.event) == [.deleted])
    }

    @Test func oldestRequestsOfAUserAreForgottenWhenThereAreTooMany() throws {
        var limits = CommitterLimits()
        limits.userSessions = 2
        func request(_ number: Int, user: Identifier = "ann") throws -> String {
            var ledger = ShardLedger(shard: Shard.of(room: "room"), rules: .defaults, limits: limits)
            let digits = String(number)
            let session = SessionKey.http(String(repeating: "0", count: 32 - digits.count) + digits)
            ledger.admit([commit(1, create(Identifier("e\(number)")), session: session, user: user)])
            let settlement = try ledger.run(on: self.tables)
            #expect(settlement.refusals == [nil])
            return String(decoding: settlement.results[0].result.json, as: UTF8.self)
        }
        for number in 1...4 { _ = try request(number) }
        _ = try request(9, user: "bob")
        #expect(try self.tables.number("SELECT count(*) FROM sessions") == 5, "young ones stay")
        #expect(try request(1).contains(#""duplicate":true"#))
        _ = try self.tables.rows("UPDATE sessions SET updated_at = updated_at - interval '1 hour'")
        _ = try request(5)
        let left = try self.tables.rows("SELECT right(session, 1) FROM sessions ORDER BY 1")
        #expect((0..<left.count).map { left.text($0, 0) } == ["4", "5", "9"])
        #expect(try request(1).contains(#""duplicate":true"#), "the log knows it")
        _ = try self.tables.rows("UPDATE sessions SET updated_at = updated_at - interval '1 hour'")
        _ = try request(6)
        #expect(try self.tables.number("SELECT count(*) FROM sessions WHERE user_id = 'ann'") == 2)
    }

    @Test func unusedSessionsEndAndAreNotBegunAnew() throws {
        let (oldName, youngName) = (self.name(-40 * 24 * 60), self.name(0))
        try self.write([
            commit(1, create("a"), session: oldName), commit(1, create("b"), session: youngName),
            commit(1, create("c"), session: "h:0123"),
        ])
        var taken = ledger()
        taken.admit([commit(2, create("a"), session: oldName)])
        #expect(try taken.run(on: self.tables).refusals.map { $0?.code } == [.conflict])
        #expect(try self.tables.number("SELECT count(*) FROM refusals") == 1)
        try self.tables.connection.executeScript(
            "UPDATE sessions SET updated_at = updated_at - interval '31 days' WHERE session <> '\(youngName)'")
        let upkeep = try Upkeep(logDays: 7, sessionDays: 30).begin(self.tables.database.connectionString)
        var ended = 0
        while let done = try upkeep.step() { if case .sessions(let count) = done { ended += count } }
        #expect(ended == 2)
        #expect(try self.tables.number("SELECT count(*) FROM sessions") == 1)
        #expect(try self.tables.number("SELECT count(*) FROM refusals") == 0)
        // Nothing of it is begun anew: neither by its owner nor by a commit.
        #expect(try self.tables.rows("SELECT * FROM claim_session('room', '\(oldName)', 'ann')").count == 0)
        #expect(try self.tables.rows("SELECT * FROM claim_session('room', '\(youngName)', 'ann')").int4(0, 0) == 2)
        var late = ledger()
        late.admit([
            commit(3, create("z"), session: oldName), commit(1, create("z"), session: oldName, connection: 8),
            commit(1, create("z"), session: SessionKey.gateway(sid: oldName, sessionEpoch: 3)),
            commit(1, create("y"), session: SessionKey.gateway(sid: youngName, sessionEpoch: 3)),
        ])
        #expect(
            try late.run(on: self.tables).refusals.map { $0?.code } == [
                .sessionExpired, .sessionExpired, .sessionExpired, nil,
            ])
    }

    /// What is left of the log has none of their entries then. Five thousand go at once.
    @Test func stacksGoADayAfterTheLog() throws {
        try self.write([commit(1, create("a")), commit(1, create("b"), session: "s2", user: "bob")])
        _ = try self.tables.rows(
            """
            UPDATE undo_stacks SET updated_at = updated_at - CASE user_id WHEN 'ann' THEN 9 ELSE 8 END * interval '1 day'
            """)
        _ = try self.tables.rows(
            """
            INSERT INTO undo_stacks SELECT 'room', 'u' || i, undo_head, undo_depth, redo_head, redo_depth, undo_group,
                undo_group_rows, undo_group_bytes, updated_at
            FROM undo_stacks, generate_series(1, 5000) AS i WHERE user_id = 'ann'
            """)
        for left in [2, 1] as [Int64] {
            #expect(try self.tables.number("SELECT sweep_sessions(30, 7)") == 0)
            #expect(try self.tables.number("SELECT count(*) FROM undo_stacks") == left)
        }
        #expect(try self.tables.rows("SELECT user_id FROM undo_stacks").text(0, 0) == "bob")
        try self.write([commit(2, EncodedEdit(UndoEdit())), commit(3, transform("a", x: 1))])
        let stacks = try self.tables.rows("SELECT undo_head, undo_depth FROM undo_stacks WHERE user_id = 'ann'")
        #expect(stacks.int8(0, 0) == 3 && stacks.int4(0, 1) == 1)
    }

    /// The database's clock may be wrong for a while: it ends what is there, and nothing that is made later.
    @Test func aClockThatWasAheadEndsNoSessionThatIsMadeLater() throws {
        func refusals(_ commits: [Commit]) throws -> [RefusalCode?] {
            var ledger = ledger()
            ledger.admit(commits)
            return try ledger.run(on: self.tables).refusals.map { $0?.code }
        }
        let (former, later) = (self.name(-1), self.name(1))
        try self.write([commit(1, create("a"), session: former)])
        let sweep = "SELECT sweep_sessions(30, 7, clock_timestamp() + interval '90 days')"
        #expect(try self.tables.number(sweep) == 1 && self.tables.number(sweep) == 0)
        #expect(
            try refusals([commit(1, create("b"), session: former), commit(1, create("c"), session: later)])
                == [.sessionExpired, nil])
        // Today is swept nevertheless.
        _ = try self.tables.rows("UPDATE sessions SET updated_at = updated_at - interval '32 days'")
        #expect(try self.tables.number("SELECT sweep_sessions(30, 7)") == 1)
    }

    // MARK: History

    /// What `note_history` says, step by step, of (cluster, timeline, synchronous, minutes since the start).
    @Test func historiesAreToldApart() throws {
        let steps: [(Int, Int, Bool, Int, String)] = [
            (7, 1, false, 0, "first"), (7, 1, false, 1, "same"), (7, 2, true, 2, "lost"), (7, 2, true, 3, "same"),
            (7, 3, true, 4, "failover"), (7, 2, true, 5, "behind"), (7, 3, true, 6, "same"),
            (7, 4, true, 30, "lost"), (7, 4, false, 31, "same"), (7, 5, true, 32, "lost"),
            (8, 5, true, 33, "restored"), (8, 1, true, 34, "behind"), (8, 6, true, 35, "failover"),
        ]
        var epoch = try self.tables.rows("SELECT value FROM meta WHERE key = 'epoch'").text(0, 0)
        for (system, timeline, waits, minute, verdict) in steps {
            let note = try self.tables.rows(
                """
                SELECT verdict, epoch FROM note_history(\(system), \(timeline), \(waits),
                    '2030-01-01'::timestamptz + interval '\(minute) minutes')
                """)
            #expect(note.text(0, 0) == verdict, "timeline \(timeline) at minute \(minute)")
            #expect((note.text(0, 1) != epoch) == ["lost", "restored"].contains(verdict))
            epoch = note.text(0, 1)
        }
        let unknown = try self.tables.rows("SELECT * FROM note_history(NULL, NULL)")
        #expect(unknown.text(0, 0) == "same" && unknown.text(0, 1) == epoch)
    }

    @Test func anEpochIsMovedOnce() throws {
        let first = try #require(try self.tables.rows("SELECT value FROM meta WHERE key = 'epoch'").text(0, 0))
        let second = try self.tables.rows("SELECT move_epoch('\(first)')").text(0, 0)
        let again = try self.tables.rows("SELECT move_epoch('\(first)')").text(0, 0)
        #expect(second != first && again == second)
    }

    /// The same version of another history: rows were lost, and others came in their place.
    @Test func aVersionOfAnotherHistoryIsStale() throws {
        var first = ledger()
        first.admit([commit(1, create("a"))])
        _ = try first.run(on: self.tables)
        let shard = Shard.of(room: "room")
        first.admit([commit(2, create("b"))])
        guard case .load(let load)? = first.next(at: 0) else {
            Issue.record("nothing to load")
            return
        }
        first.stateLoaded(try self.tables.load(load))
        try self.tables.connection.executeScript("UPDATE shards SET chain = chain + 1 WHERE shard = \(shard)")
        guard case .write(let batch)? = first.next(at: 0) else {
            Issue.record("nothing to write")
            return
        }
        #expect(try self.tables.write(batch) == false)
    }

    @Test func theChainIsThatOfTheLog() throws {
        try self.write([commit(1, create("a")), commit(2, transform("a", x: 1)), commit(1, create("b"), session: "s2")])
        try self.write([commit(3, transform("a", x: 2))])
        let shard = Shard.of(room: "room")
        let log = try self.tables.rows("SELECT * FROM read_shard_log(\(shard)::int2, 0, 100)")
        var chain: UInt64 = 0
        for row in 0..<log.count {
            let link = HistoryChain.link(
                gseq: UInt64(log.int8(row, 1) ?? 0), room: Identifier(log.text(row, 2) ?? ""),
                seq: UInt64(log.int8(row, 3) ?? 0), session: Identifier(log.text(row, 7) ?? ""),
                number: UInt64(log.int8(row, 8) ?? 0), body: UInt64(bitPattern: log.int8(row, 13) ?? 0))
            chain = HistoryChain.next(chain, link)
            #expect(log.int8(row, 14) == Int64(bitPattern: chain))
        }
        #expect(log.count == 4)
        #expect(
            try self.tables.number("SELECT chain FROM shard_heads() WHERE shard = \(shard)")
                == Int64(bitPattern: chain))
    }
}
