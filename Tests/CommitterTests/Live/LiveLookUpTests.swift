import CommitterCore
import PipelineTestKit
import Postgres
import Testing
import Wire

/// What a batch reads follows from what it changes, also while the planner believes that the tables are almost empty.
@Suite(.timeLimit(.minutes(1))) struct LiveLookUpTests {
    private let tables: LiveTables
    private var shard: ShardLedger
    private var number: UInt64 = 0

    /// Plans are made for tables with a row or two. Then there are thousands.
    init() throws {
        self.tables = try LiveTables()
        self.shard = ledger()
        try self.run([
            create("photo", #"{"type":"photo"}"#), create("gone"), EncodedEdit(DeleteElement(element: "gone")),
        ])
        try self.run([createMany([("child", Self.annotation)])])
        for table in ["elements", "rooms", "sessions", "undo_stacks", "commit_log", "refusals"] {
            _ = try self.tables.rows("VACUUM ANALYZE \(table)")
        }
        try self.changeEverything()
        for copy in [
            """
            elements (room_id, id, seq, parent_id, updated_by, data)
            SELECT 'other', id || i, seq, parent_id, updated_by, data
            FROM elements, generate_series(1, 2000) AS i WHERE deleted_seq IS NULL
            """,
            """
            rooms (room_id, shard, seq, elements, bytes)
            SELECT 'other' || i, shard, seq, elements, bytes FROM rooms, generate_series(1, 2000) AS i
            """,
            """
            sessions (room_id, session, user_id, hw, claim)
            SELECT room_id || i, session, user_id, hw, claim FROM sessions, generate_series(1, 2000) AS i
            """,
            """
            undo_stacks SELECT room_id || i, user_id, undo_head, undo_depth, redo_head, redo_depth, undo_group,
                undo_group_rows, undo_group_bytes FROM undo_stacks, generate_series(1, 2000) AS i
            """,
            """
            refusals (room_id, session, n, body_hash, refusal)
            SELECT room_id || i, session, n, body_hash, refusal FROM refusals, generate_series(1, 2000) AS i
            """,
        ] { _ = try self.tables.rows("INSERT INTO \(copy)") }
    }

    private static let annotation =
        #"{"type":"text","parentId":"photo","space":"normalized","positionX":0.5,"positionY":0.5}"#

    private mutating func run(_ edits: [EncodedEdit]) throws {
        let first = self.number + 1
        self.number += UInt64(edits.count)
        self.shard.admit(zip(first..., edits).map { commit($0, $1) })
        _ = try self.shard.run(on: self.tables)
    }

    /// Five commits that have a committer load and write rows of every table. The ledger remembers nothing between them.
    private mutating func changeEverything() throws {
        self.shard = ledger()
        try self.run([
            transform("photo", rotation: Double(self.number)), create("photo"),
            EncodedEdit(DeleteElement(element: "photo")), EncodedEdit(UndoEdit()), transform("child", x: 0.25),
        ])
    }

    /// How many entries of indexes and rows of tables all sessions have read so far.
    private func reads() throws -> Int64 {
        _ = try self.tables.rows("SELECT pg_stat_force_next_flush()")
        _ = try self.tables.rows("SELECT pg_stat_clear_snapshot()")
        return try self.tables.number(
            """
            SELECT (sum(t.seq_tup_read) + (SELECT sum(i.idx_tup_read) FROM pg_stat_user_indexes AS i))::bigint
            FROM pg_stat_user_tables AS t
            WHERE t.relname IN ('elements', 'rooms', 'sessions', 'undo_stacks', 'refusals')
                OR t.relname LIKE 'commit_log%'
            """) ?? 0
    }

    /// However many elements were created and deleted in it.
    @Test func aRoomIsReadWithoutItsDeletedElements() throws {
        _ = try self.tables.rows(
            """
            INSERT INTO elements (room_id, id, seq, deleted_seq, updated_by)
            SELECT room_id, id || i, seq, deleted_seq, updated_by
            FROM elements, generate_series(1, 5000) AS i WHERE id = 'gone'
            """)
        let before = try self.reads()
        let elements = try self.tables.rows("SELECT * FROM read_room('room', 0::smallint)")
        #expect(elements.count > 1)
        #expect(try self.reads() - before < 500)
        // Reports have no plan of their own, but the server's figures.
        _ = try self.tables.rows("ANALYZE elements")
        let start = try self.reads()
        let shown = try self.tables.rows(
            "SELECT position_x FROM element_geometry WHERE room_id = 'room' AND type = 'text'")
        #expect(shown.count == 1 && shown.float8(0, 0) == 0.25)
        #expect(try self.reads() - start < 500)
    }

    /// However many sessions a user has left behind, idle or in use.
    @Test(arguments: ["1 hour", "1 minute"]) func anAdditionReadsAndEndsFewSessions(age: String) throws {
        _ = try self.tables.rows(
            """
            INSERT INTO sessions (room_id, session, user_id, hw, claim, updated_at)
            SELECT 'room', 's' || lpad(i::text, 14, '0'), 'ann', 0, 2, clock_timestamp() - interval '\(age)'
            FROM generate_series(1, 20000) AS i
            """)
        _ = try self.tables.rows("SELECT evict_sessions('{room}', '{ann}', 100)")
        let rows = try self.tables.number("SELECT count(*) FROM sessions")
        let before = try self.reads()
        _ = try self.tables.rows("SELECT evict_sessions('{room}', '{ann}', 100)")
        _ = try self.tables.rows("SELECT * FROM claim_session('room', 's99999999999999', 'ann')")
        // Two places that are a hundred entries apart each time, and 32 rows that go.
        #expect(try self.reads() - before < 1000)
        #expect(try self.tables.number("SELECT count(*) FROM sessions") == rows.map { $0 - 63 })
    }

    @Test mutating func batchesReadOnlyWhatTheyName() throws {
        let before = try self.reads()
        for _ in 0..<8 { try self.changeEverything() }
        let read = try self.reads() - before
        // Forty commits, each of which finds some rows by their keys: a few hundred in all. One scan of one table reads 2,000.
        #expect(read < 2000)
    }
}
