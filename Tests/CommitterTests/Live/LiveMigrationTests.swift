import CommitterDaemon
import PipelineTestKit
import Postgres
import Testing

@Suite(.timeLimit(.minutes(1))) struct LiveMigrationTests {
    @Test func migrationsAreSafeTogether() throws {
        let database = try LivePostgres.freshDatabase()
        let connectionString = database.connectionString
        let threads = (0..<4).map { _ in
            TestThread { _ = try? Migrator(migrations).migrate(connectionString) }
        }
        for thread in threads { thread.join() }
        #expect(try Migrator(migrations).pending(connectionString).isEmpty)
        let tables = try LiveTables(database)
        #expect(try tables.number("SELECT count(*) FROM shards") == 64)
        #expect(try tables.rows("SELECT value FROM meta WHERE key = 'session_key'").text(0, 0)?.utf8.count == 64)
    }

    /// During an upgrade the schema is a release ahead of some committers: they call without the newer arguments, and what
    /// they do not know of stays as it is.
    @Test func committersOfTheReleaseBeforeWorkOn() throws {
        let tables = try LiveTables()
        let elements = [
            "room", "id", "type", "position_x", "position_y", "rotation", "scale_x", "scale_y", "original_width",
            "original_height", "anchor_x", "anchor_y", "created_by", "updated_by", "rev", "locked", "snap_degrees",
            "bounds_x", "bounds_y", "bounds_width", "bounds_height", "font_size", "z_index", "space", "parent_id",
            "extra", "seq", "deleted_seq",
        ]
        let empty = elements.map { "e_\($0)" } + ["room", "session", "n", "hash", "refusal"].map { "f_\($0)" }
        func write(version: Int, hw: Int) throws -> Bool? {
            try tables.rows(
                """
                SELECT commit_batch(p_shard => 0::smallint, p_version => \(version), p_base => \(version),
                    p_gseq => \(hw), p_chain => \(hw), r_room => '{r}', r_seq => '{\(hw)}', l_room => '{r}',
                    l_seq => '{\(hw)}', l_gseq => '{\(hw)}', l_event => '{element:deleted}', l_user => '{ann}',
                    l_session => '{s}', l_n => '{\(hw)}', l_gestures => '{NULL}', l_element => '{e}', l_hash => '{7}',
                    l_before => '{NULL}', l_after => '{NULL}', l_chain => '{\(hw)}', s_room => '{r}',
                    s_session => '{s}', s_user => '{ann}', s_hw => '{\(hw)}', s_claim => '{1}',
                    \(empty.map { "\($0) => '{}'" }.joined(separator: ", ")))
                """
            ).bool(0, 0)
        }
        #expect(try write(version: 0, hw: 1) == true)
        _ = try tables.rows("UPDATE sessions SET undo_version = 3, undo_head = 1, undo_depth = 1")
        #expect(try write(version: 1, hw: 2) == true)
        #expect(try tables.number("SELECT undo_head FROM sessions WHERE hw = 2 AND undo_version = 3") == 1)
        #expect(try tables.number("SELECT count(*) FROM commit_log WHERE undo_next IS NULL AND cause IS NULL") == 2)
        let columns = "s_room => '{}', s_session => '{}', e_room => '{}', e_id => '{}', e_family => '{}'"
        let load = "p_shard => 0::smallint, r_room => '{r}', \(columns), d_room => '{}', d_session => '{}', d_n => '{}'"
        #expect(try tables.number("SELECT seq FROM load_shard_state(\(load)) WHERE kind = 1") == 2)
    }

    /// Whether they may migrate or not: what is ahead of them was applied on purpose.
    @Test(arguments: [true, false])
    func committersStartOnASchemaAheadOfThem(migrates: Bool) throws {
        let database = try LivePostgres.freshDatabase()
        let next = Migration(version: migrations.count + 1, name: "next", sql: "CREATE TABLE next (k int8)")
        _ = try Migrator(migrations + [next]).migrate(database.connectionString)
        let preparation = SchemaPreparation(migrator: try Migrator(migrations), migrates: migrates)
        #expect(try preparation.attempt(database.connectionString) == 0)
    }

    @Test func committersThatMayNotMigrateDoNotStartOnASchemaBehindThem() throws {
        let database = try LivePostgres.freshDatabase()
        _ = try Migrator(Array(migrations.dropLast(2))).migrate(database.connectionString)
        let preparation = SchemaPreparation(migrator: try Migrator(migrations), migrates: false)
        let error = #expect(throws: OutdatedSchema.self) { try preparation.attempt(database.connectionString) }
        #expect(error?.missing == 2)
    }

    @Test func unreleasedDatabaseIsRefusedAndLeftAlone() throws {
        let database = try LivePostgres.freshDatabase()
        let connection = try database.connect()
        try connection.executeScript(unreleasedSchema)
        let migrator = try Migrator(migrations)
        #expect(throws: MigrationError.unreleased) { try migrator.migrate(database.connectionString) }
        #expect(throws: MigrationError.unreleased) { try migrator.pending(database.connectionString) }
        #expect(try connection.execute("SELECT to_regclass('meta') IS NULL").bool(0, 0) == true)
    }
}
