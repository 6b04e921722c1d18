import Canvas
import CommitterDaemon
import Glibc
import JSONBytes
import PipelineTestKit
import Postgres
import Testing
import Timing
import TimingTestKit
import Wire

@testable import CommitterCore

@Suite(.timeLimit(.minutes(2))) struct LiveTableTests {
    let tables: LiveTables

    init() throws { self.tables = try LiveTables() }

    @Test func everyCommandReachesTheTables() throws {
        var ledger = ledger()
        let extra = #"{"type":"photo","content":"ä\u0001\" ","n0":{"a":[1,2.50]},"zIndex":1e300,"locked":false}"#
        let child = #"{"type":"text","space":"normalized","parentId":"a","positionX":0.1,"positionY":0.7}"#
        ledger.admit([
            commit(1, create("a", extra)),
            commit(
                2, createMany([("b", #"{"type":"note","bounds":{"x":0,"y":0,"width":9,"height":9}}"#), ("c", child)])),
            commit(3, transform("a", x: 1.5, rotation: 45.3, scaleX: 1 / 3), gesture: 4),
            commit(4, update("b", #"{"fontSize":12.5,"snapDegrees":45,"app":null}"#)),
            commit(5, .delete(element: "a")),
            commit(6, transform("a", x: 4)),
        ])
        let settlement = try ledger.run(on: self.tables)
        try #require(settlement.refusals.map { $0?.code } == [nil, nil, nil, nil, nil, .gone], "\(settlement.texts)")
        let log = try self.tables.rows("SELECT * FROM read_room_log('room', 0, 100)")
        #expect((0..<log.count).map { log.int8($0, 3) } == [1, 2, 3, 4, 5])
        #expect(log.text(0, 5) == "element:created" && log.text(0, 9) == nil && log.text(1, 10) == nil)
        #expect(log.text(2, 9) == #"{"a":4}"#)
        #expect(log.bytes(2, 12) == settlement.updates[2].elements[0].json)
        #expect(log.text(4, 11)?.hasPrefix(#"[{"id":"a","type":"photo","positionX":2,"#) == true)
        #expect(log.isNull(4, 12))
        let shard = Shard.of(room: "room")
        let shardLog = try self.tables.rows("SELECT * FROM read_shard_log(\(shard)::int2, 2, 2)")
        #expect((0..<shardLog.count).map { shardLog.int8($0, 1) } == [3, 4])
        #expect(try self.tables.number("SELECT gseq FROM shard_heads() WHERE shard = \(shard)") == 5)
        let room = try self.tables.rows("SELECT * FROM read_room('room', \(shard)::int2)")
        #expect(room.count == 1 && room.int8(0, 1) == 5 && room.int8(0, 2) == 5 && room.text(0, 3) == "b")
        #expect(room.text(0, 0)?.utf8.count == 16)
        #expect(self.element(room.bytes(0, 5)) == self.element(settlement.updates[3].elements[0].json))
        let empty = try self.tables.rows("SELECT * FROM read_room('never', 3::int2)")
        #expect(empty.count == 1 && empty.int8(0, 2) == 0 && empty.isNull(0, 3))
    }

    @Test func repetitionIsAnsweredFromTheTables() throws {
        let commands = [
            create("a", #"{"type":"photo","scaleX":9,"x\"y":"z"}"#), transform("a", x: 0.2, scaleX: 77),
            transform("nobody", x: 1), update("a", #"{"snapDegrees":720,"ünï":[]}"#), .delete(element: "a"),
        ]
        let commits = commands.enumerated().map { commit(UInt64($0.offset) + 1, $0.element) }
        var first = ledger()
        first.admit(commits)
        let given = try first.run(on: self.tables).texts
        var second = ledger()
        second.admit(commits)
        let again = try second.run(on: self.tables).texts
        #expect(again == given.map { $0.hasPrefix(#"{"ok":false"#) ? $0 : $0.dropLast() + #","duplicate":true}"# })
        #expect(try self.tables.number("SELECT count(*) FROM commit_log") == 4)
    }

    @Test func numbersComeBackAsTheyWere() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var first = ledger()
        for number in 1...60 as ClosedRange<UInt64> {
            let scale = Double.random(in: -12...12, using: &random)
            let size = exp(Double.random(in: -9...20, using: &random))
            let json = """
                {"type":"note","scaleX":\(scale),"width":\(size),"rotation":\(Double.random(in: -1e6...1e6, using: &random)),
                "anchorX":\(Double.random(in: -2...2, using: &random)),"positionX":\(1e9 * scale)}
                """
            first.admit([commit(number, create(Identifier("e\(number)"), json))])
        }
        let settlement = try first.run(on: self.tables)
        var request = LoadRequest(shard: Shard.of(room: "room"))
        request.elements = (1...60).map {
            ElementNeed(key: ElementKey("room", Identifier("e\($0)")), family: false)
        }
        let state = try self.tables.load(request)
        #expect(state.elements.count == 60)
        for row in state.elements {
            let json = settlement.updates.first { $0.elements[0].id == row.key.element }?.elements[0].json
            guard case .live(let live) = row.state else { continue }
            #expect(live.element == self.element(json) && live.json == json, "seed \(seed)")
        }
    }

    @Test func familyIsReadWithItsHead() throws {
        var first = ledger()
        first.admit([
            commit(1, create("p", #"{"type":"photo"}"#)), commit(2, create("c", #"{"type":"text","parentId":"p"}"#)),
            commit(3, create("d", #"{"type":"text","parentId":"p"}"#)), commit(4, .delete(element: "d")),
        ])
        _ = try first.run(on: self.tables)
        var second = ledger()
        second.admit([commit(5, .delete(element: "p"))])
        #expect(try second.run(on: self.tables).texts[0].contains(#""elementIds":["p","c"]"#))
    }

    @Test func staleBatchWritesNothing() throws {
        var first = ledger()
        first.admit([commit(1, create("a"))])
        _ = try first.run(on: self.tables)
        var second = ledger()
        second.admit([commit(1, create("b"), session: "s2")])
        guard case .load(let load)? = second.next(at: 0) else {
            Issue.record("nothing to load")
            return
        }
        second.stateLoaded(try self.tables.load(load))
        guard case .write(let batch)? = second.next(at: 0) else {
            Issue.record("nothing to write")
            return
        }
        first.admit([commit(2, create("c"))])
        _ = try first.run(on: self.tables)
        #expect(try self.tables.write(batch) == false)
        #expect(try self.tables.number("SELECT count(*) FROM elements WHERE id = 'b'") == 0)
        second.batchStale()
        #expect(try second.run(on: self.tables).results[0].result.seq == 3)
    }

    /// A transaction that was left over holds the shard's row; who comes after it waits, and then sees it.
    @Test func leftOverTransactionIsWaitedForAndSeen() throws {
        var first = ledger()
        first.admit([commit(1, create("a"))])
        var batch: ShardBatch?
        while let request = first.next(at: 0) {
            switch request {
            case .load(let load): first.stateLoaded(try self.tables.load(load))
            case .write(let write): batch = write
            }
        }
        let zombie = try LiveTables(self.tables.database)
        #expect(try zombie.begin(try #require(batch)))
        _ = first.requestFailed(.lost, at: 0)
        try self.tables.connection.executeScript("SET lock_timeout = '50ms'")
        guard case .load(let load)? = first.next(at: 0) else {
            Issue.record("nothing to load")
            return
        }
        first.stateLoaded(try self.tables.load(load))
        guard case .write(let again)? = first.next(at: 0) else {
            Issue.record("nothing to write")
            return
        }
        #expect(throws: PostgresError.self) { try self.tables.write(again) }
        try zombie.connection.executeScript("COMMIT")
        #expect(try self.tables.write(again) == false)
        first.batchStale()
        let settlement = try first.run(on: self.tables)
        #expect(settlement.tally.duplicates == 1 && settlement.tally.foundWritten == 1)
        #expect(try self.tables.number("SELECT count(*) FROM commit_log") == 1)
    }

    @Test func claimedSessionStopsItsOldOwner() throws {
        var first = ledger()
        first.admit([commit(1, create("a"))])
        _ = try first.run(on: self.tables)
        #expect(try self.tables.rows("SELECT * FROM claim_session('room', 's1', 'bob')").count == 0)
        let claimed = try self.tables.rows("SELECT * FROM claim_session('room', 's1', 'ann')")
        #expect(claimed.int4(0, 0) == 2 && claimed.int8(0, 1) == 1)
        first.admit([commit(2, transform("a", x: 1)), commit(1, create("z"), session: "s9")])
        let settlement = try first.run(on: self.tables)
        #expect(settlement.refusals.map { $0?.code } == [.sessionExpired, nil])
        first.admit([commit(2, transform("a", x: 1), sessionEpoch: 2)])
        #expect(try first.run(on: self.tables).results[0].result.seq == 3)
        let fresh = try self.tables.rows("SELECT * FROM claim_session('room', 'new', 'ann')")
        #expect(fresh.int4(0, 0) == 2 && fresh.int8(0, 1) == 0)
    }

    @Test func rowsThatAreThereAndNewOnesGoTogether() throws {
        var ledger = ledger()
        ledger.admit([commit(1, create("a"))])
        _ = try ledger.run(on: self.tables)
        ledger.admit([
            commit(2, transform("a", x: 7)), commit(1, create("b"), session: "s2"),
            commit(2, transform("b", x: 8), session: "s2"),
        ])
        let settlement = try ledger.run(on: self.tables)
        #expect(settlement.results.map { $0.result.seq } == [2, 3, 4])
        #expect(try self.tables.number("SELECT seq FROM rooms WHERE room_id = 'room'") == 4)
        #expect(try self.tables.number("SELECT sum(hw * 10 + claim)::bigint FROM sessions") == 42)
        let placed = "SELECT sum(position_x * 10 + seq)::bigint FROM element_geometry JOIN elements USING (room_id, id)"
        #expect(try self.tables.number(placed) == 156)
    }

    @Test func eachRowIsWrittenFromItsPlace() throws {
        var ledger = ledger()
        let ids = (1...5).map { Identifier("e\($0)") }
        for (number, id) in ids.enumerated() { ledger.admit([commit(UInt64(number + 1), create(id))]) }
        _ = try ledger.run(on: self.tables)
        for (number, id) in ids.enumerated() {
            ledger.admit([commit(UInt64(number + 6), transform(id, x: Double(100 * number)))])
        }
        _ = try ledger.run(on: self.tables)
        let elements = try self.tables.rows(
            "SELECT id, position_x, seq FROM element_geometry JOIN elements USING (room_id, id) ORDER BY seq")
        #expect((0..<5).map { elements.text($0, 0) } == ids.map(\.text))
        #expect((0..<5).map { elements.float8($0, 1) } == [0, 100, 200, 300, 400])
        #expect((0..<5).map { elements.int8($0, 2) } == [6, 7, 8, 9, 10])
        let log = try self.tables.rows(
            "SELECT element_id, n, (after->>'positionX')::float8 FROM commit_log WHERE seq > 5 ORDER BY seq")
        #expect((0..<5).map { log.text($0, 0) } == ids.map(\.text))
        #expect((0..<5).map { log.int8($0, 1) } == [6, 7, 8, 9, 10])
        #expect((0..<5).map { log.float8($0, 2) } == [0, 100, 200, 300, 400])
    }

    /// The plans of a connection stay: those that are made while the tables are empty must not read a table as a whole.
    @Test func plansOfEmptyTablesReadFewRowsOfFullOnes() throws {
        var ledger = ledger()
        let read = "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes"
        for number in 1...40 as ClosedRange<UInt64> {
            ledger.admit([commit(number, create(Identifier("e\(number)")))])
            _ = try ledger.run(on: self.tables)
        }
        try self.tables.connection.executeScript("SELECT pg_stat_force_next_flush()")
        let before = try #require(try self.tables.number(read))
        for number in 41...80 as ClosedRange<UInt64> {
            ledger.admit([commit(number, transform("e1", x: Double(number)))])
            _ = try ledger.run(on: self.tables)
        }
        try self.tables.connection.executeScript("SELECT pg_stat_force_next_flush()")
        let after = try #require(try self.tables.number(read))
        // A shard, a session, a room and an element each, and a dead version of some.
        #expect(after - before < 40 * 12, "\(after - before)")
    }

    /// Behind the committer's back a row became one that it may not write: then nothing of the batch is written.
    @Test(arguments: [
        "UPDATE elements SET seq = 99", "UPDATE elements SET deleted_seq = seq, data = NULL",
        "UPDATE rooms SET seq = 99",
        "UPDATE rooms SET shard = (shard + 1) % 64", "UPDATE sessions SET hw = 99", "UPDATE sessions SET claim = 2",
        "UPDATE sessions SET user_id = 'bob'",
    ])
    func rowsThatMayNotBeWrittenStopTheBatch(change: String) throws {
        var ledger = ledger()
        ledger.admit([commit(1, create("a")), commit(1, create("b"), session: "s2")])
        _ = try ledger.run(on: self.tables)
        try self.tables.connection.executeScript(change)
        ledger.admit([commit(2, transform("a", x: 7)), commit(2, transform("b", x: 7), session: "s2")])
        guard case .write(let batch)? = ledger.next(at: 0) else {
            Issue.record("nothing to write")
            return
        }
        #expect(throws: PostgresError.self) { try self.tables.write(batch) }
        #expect(try self.tables.number("SELECT count(*) FROM commit_log") == 2)
        #expect(try self.tables.number("SELECT count(*) FROM element_geometry WHERE position_x = 7") == 0)
    }

    @Test func whatTheTablesRefuseFailsAlone() throws {
        var ledger = ledger()
        let long = Identifier(String(repeating: "u", count: 300))
        for number in 1...30 as ClosedRange<UInt64> {
            // Among them a user's name that is too long, and a session's with a character that PostgreSQL's text does not have.
            ledger.admit([commit(number, create(Identifier("e\(number)")))])
        }
        ledger.admit([
            commit(1, create("x"), session: "s2", user: long),
            commit(1, create("y"), session: "a\0b"),
        ])
        let settlement = try ledger.run(on: self.tables)
        #expect(settlement.results.count == 32)
        let refused = settlement.results.filter { $0.result.refusal != nil }
        #expect(refused.map(\.result.session).sorted() == ["a\0b", "s2"])
        #expect(refused.allSatisfy { $0.result.refusal?.code == .invalid })
        #expect(try self.tables.number("SELECT count(*) FROM commit_log") == 30)
    }

    @Test func onlyTheLastRefusalsAreKept() throws {
        var ledger = ledger()
        for number in 1...50 as ClosedRange<UInt64> { ledger.admit([commit(number, transform("nobody", x: 1))]) }
        _ = try ledger.run(on: self.tables)
        ledger.admit([commit(51, transform("nobody", x: 1))])
        _ = try ledger.run(on: self.tables)
        let kept = try self.tables.rows("SELECT count(*), min(n), max(n) FROM refusals")
        #expect(kept.int8(0, 0) == 32 && kept.int8(0, 1) == 20 && kept.int8(0, 2) == 51)
    }

    private static let impossible = [
        "seq = 0", "deleted_seq = 99", "deleted_seq = seq", "data = NULL", "data = '[]'", "id = ''",
        "id = repeat('x', 129)", "parent_id = ''", "updated_by = ''", "updated_by = repeat('x', 257)",
        "data = ('{\"x\":\"' || repeat('x', 270000) || '\"}')::json",
    ]

    @Test func constraintsAreTheLastLine() throws {
        var ledger = ledger()
        ledger.admit([commit(1, create("a"))])
        _ = try ledger.run(on: self.tables)
        for change in Self.impossible {
            #expect(self.tables.failure("UPDATE elements SET \(change)") == .checkViolation, "\(change)")
        }
    }

    /// A new kind of edit needs no migration.
    @Test func eventsHaveAGrammar() throws {
        var ledger = ledger()
        ledger.admit([commit(1, create("a"))])
        _ = try ledger.run(on: self.tables)
        for event in ["gesture:ended", "a:b", String(repeating: "a", count: 62) + ":b"] {
            #expect(self.tables.failure("UPDATE commit_log SET event = '\(event)'") == nil, "\(event)")
        }
        let bad = [
            "", ":", "a:", ":b", "ab", "a:b:c", "A:b", "a:b ", "ä:b", "a:b\n", String(repeating: "a", count: 63) + ":b",
        ]
        for event in bad {
            #expect(self.tables.failure("UPDATE commit_log SET event = '\(event)'") == .checkViolation, "\(event)")
        }
    }

    @Test func argumentsAreThoseOfTheFunctions() throws {
        for statement in [BatchColumns.statement, StateColumns.statement] {
            let given = statement.sql.split { !($0.isLetter || $0.isNumber || "_$=>".contains($0)) }
                .split(separator: "=>").dropLast().compactMap(\.last)
            let declared = try self.tables.rows(
                """
                SELECT unnest(proargnames[:pronargs]) AS name FROM pg_proc WHERE proname = '\(statement.name)'
                """)
            let names = (0..<declared.count).compactMap { declared.text($0, 0) }
            #expect(Set(given.map { String($0) }).symmetricDifference(names) == [] && given.count == names.count)
        }
    }

    /// An entry is read whole, and those below it until there are enough rows.
    @Test func entriesOfAStackAreReadAhead() throws {
        var ledger = ledger()
        // In the room's order: an entry of one change, one of three, and two of one.
        for (index, group) in ["", "g", "g", "g", "", ""].enumerated() {
            var edit = index == 0 ? create("a") : transform("a", x: Double(index))
            if !group.isEmpty { edit.undo = .group(Identifier(group)) }
            ledger.admit([commit(UInt64(index + 1), edit)])
            _ = try ledger.run(on: self.tables)
        }
        let counts: [(ahead: UInt64, rows: [UInt64: Int])] = [
            (0, [6: 1]), (1, [6: 1]), (2, [6: 1, 5: 1]), (3, [6: 1, 5: 1, 4: 3]), (5, [6: 1, 5: 1, 4: 3]),
            (6, [6: 1, 5: 1, 4: 3, 1: 1]), (100, [6: 1, 5: 1, 4: 3, 1: 1]),
        ]
        for (ahead, rows) in counts {
            var request = LoadRequest(shard: Shard.of(room: "room"))
            request.entries = [UndoEntryNeed(key: UndoEntryKey("room", 6), ahead: ahead)]
            let read = try self.tables.load(request).entries
            let expected = rows.map { (UndoEntryKey("room", $0), $1) }
            #expect(read.mapValues(\.count) == Dictionary(uniqueKeysWithValues: expected), "\(ahead)")
            #expect(read.values.allSatisfy { $0.map(\.seq) == $0.map(\.seq).sorted(by: >) })
        }
        // Forty changes of 14 KB each: enough are read, and no more.
        for number in 7...46 as ClosedRange<UInt64> {
            let content = String(repeating: number.isMultiple(of: 2) ? "a" : "b", count: 7000)
            ledger.admit([commit(number, update("a", #"{"content":"\#(content)"}"#))])
        }
        _ = try ledger.run(on: self.tables)
        var request = LoadRequest(shard: Shard.of(room: "room"))
        request.entries = [UndoEntryNeed(key: UndoEntryKey("room", 46), ahead: 100)]
        #expect(try (15...20).contains(self.tables.load(request).entries.count))
    }

    /// Each step is decided by a committer that knows nothing yet.
    @Test func othersWorkIsReadFromTheTables() throws {
        func refusal(_ number: UInt64, _ edit: EncodedEdit, by user: Identifier = "ann") throws -> Refusal? {
            var ledger = ledger()
            ledger.admit([commit(number, edit, session: Identifier("s-" + user.text), user: user)])
            return try ledger.run(on: self.tables).refusals.first ?? nil
        }
        #expect(try refusal(1, create("n")) == nil)
        #expect(try refusal(1, update("n", #"{"content":"Bob's"}"#), by: "bob") == nil)
        #expect(try refusal(2, update("n", #"{"zIndex":2}"#)) == nil)
        #expect(try refusal(3, .delete(element: "n")) == nil)
        #expect(
            try self.tables.number("SELECT other_seq FROM elements WHERE other_by = 'bob' AND deleted_seq IS NOT NULL")
                == 2)
        #expect(try refusal(4, EncodedEdit(UndoEdit())) == nil)
        #expect(try refusal(5, EncodedEdit(UndoEdit())) == nil)
        let refused = try refusal(6, EncodedEdit(UndoEdit()))
        #expect(refused?.by == "bob" && refused?.field == "undo")
        #expect(refused?.entry == BlockedEntry(seq: 1, event: .created, elements: ["n"]))
        // The table of refusals has all of it.
        #expect(try refusal(6, EncodedEdit(UndoEdit())) == refused)
        #expect(try refusal(7, EncodedEdit(UndoEdit(past: 1))) == nil)
        #expect(try refusal(8, EncodedEdit(UndoEdit(past: 1)))?.field == "past")
    }

    @Test func stacksAreReadAsTheyWereWritten() throws {
        func grouped(_ x: Double) -> EncodedEdit {
            var edit = transform("a", x: x)
            edit.undo = .group("drag")
            return edit
        }
        func stacks() throws -> [UserKey: UndoStacks] {
            var request = LoadRequest(shard: Shard.of(room: "room"))
            request.users = ["ann", "bob", "zoe"].map { UserKey("room", $0) }
            return try self.tables.load(request).users
        }
        func run(_ commits: [Commit]) throws {
            var ledger = ledger()
            ledger.admit(commits)
            #expect(try ledger.run(on: self.tables).refusals.allSatisfy { $0 == nil })
        }
        try run([
            commit(1, create("a")), commit(2, grouped(1)), commit(3, grouped(2)),
            commit(1, create("b"), session: "s2", user: "bob"), commit(1, create("c"), session: "s3", user: "bob"),
        ])
        var (ann, bob) = (UndoStacks(), UndoStacks())
        func last(_ user: String) throws -> UInt64 {
            let seq = try self.tables.number("SELECT max(seq) FROM commit_log WHERE user_id = '\(user)'")
            return UInt64(seq ?? 0)
        }
        ann.undo = UndoStacks.Stack(head: try last("ann"), depth: 2)
        let bytes =
            "SELECT sum(octet_length(concat(before, after))) FROM commit_log WHERE event = 'element:transformed'"
        ann.group = UndoStacks.OpenGroup(name: "drag", rows: 2, bytes: Int(try self.tables.number(bytes) ?? 0))
        bob.undo = UndoStacks.Stack(head: try last("bob"), depth: 2)
        #expect(try stacks() == [UserKey("room", "ann"): ann, UserKey("room", "bob"): bob])
        // Each session of a user goes on with the same stacks.
        for session in ["s2", "s3"] as [Identifier] {
            try run([commit(2, EncodedEdit(UndoEdit()), session: session, user: "bob")])
        }
        bob = UndoStacks()
        bob.redo = UndoStacks.Stack(head: try last("bob"), depth: 2)
        #expect(try stacks() == [UserKey("room", "ann"): ann, UserKey("room", "bob"): bob])
        #expect(try self.tables.number("SELECT count(*) FROM undo_stacks") == 2)
    }

    @Test func missingColumnIsNamed() throws {
        let rows = try self.tables.rows("SELECT 0::int8 AS version, 1::int8 AS gseq")
        var states = StateColumns()
        #expect(throws: PostgresError(.undefinedColumn, "the result has no column chain")) { try states.decode(rows) }
    }

    @Test(arguments: ["", "a b", "ä", "a/b", String(repeating: "r", count: 65)])
    func aRoomHasANameOrIsNotMade(name: String) {
        #expect(self.tables.failure("INSERT INTO rooms VALUES ('\(name)', 0, 1, 0, 0)") == .checkViolation)
        #expect(self.tables.failure("INSERT INTO rooms VALUES ('aZ09_.:-', 0, 1, 0, 0)") == nil)
        #expect(self.tables.failure("UPDATE rooms SET seq = -1") == .checkViolation)
    }

    @Test func twoCommittersOnOneShardOnlySlowEachOtherDown() throws {
        let database = self.tables.database
        let rooms: [Identifier] = ["room", "room"]
        let threads = rooms.indices.map { index in
            TestThread {
                guard let tables = try? LiveTables(database) else { return }
                var ledger = ledger(rooms[index])
                for number in 1...100 as ClosedRange<UInt64> {
                    let id = Identifier("e\(index)-\(number)")
                    ledger.admit([
                        commit(number, create(id), session: Identifier("s\(index)")),
                        commit(number, create(id), session: Identifier("s\(index)"), gateway: "gateway-2"),
                    ])
                    _ = try? ledger.run(on: tables)
                }
            }
        }
        for thread in threads { thread.join() }
        let log = try self.tables.rows("SELECT count(*), min(seq), max(seq), max(gseq) FROM commit_log")
        #expect((0..<4).map { log.int8(0, $0) } == [200, 1, 200, 200])
        let order = try self.tables.number(
            "SELECT count(*) FROM commit_log a JOIN commit_log b USING (room_id, session) WHERE a.n < b.n AND a.seq > b.seq"
        )
        #expect(order == 0)
    }

    private func element(_ json: [UInt8]?) -> Element? {
        var document = JSONDocument()
        do { try document.parse(json ?? [], limits: .element) } catch { return nil }
        return Element(json: document.root)
    }
}

/// A thread that a test waits for.
final class TestThread {
    private var thread = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        pthread_create(
            &self.thread, nil,
            { argument in
                if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, box)
    }

    func join() { pthread_join(self.thread, nil) }
}
