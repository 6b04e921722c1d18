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

/// What a database from before the first release says of itself.
let unreleasedSchema = """
    CREATE TABLE schema_migrations (version bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now());
    INSERT INTO schema_migrations (version, name, checksum) VALUES
        (1, 'tables', 'a42bfaa5ce92627e'), (2, 'functions', '9d2c97fbf7a7b140'), (3, 'log by days', 'c7d7c9a755471225'),
        (4, 'end of sessions', '9271afe82510450e'), (5, 'history', '8ec6b6db38318833'),
        (6, 'checks', 'dc17257d723a4a20'), (7, 'update first', '0ec15393f7b527c3'),
        (8, 'arrays by place', '3c96a1cacd7a8a38')
    """
