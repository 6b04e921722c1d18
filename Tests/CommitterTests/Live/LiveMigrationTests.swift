import Boot
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

    private static let next = Migration(
        version: BuildInfo.schemaVersion + 1, name: "next", sql: "CREATE TABLE next (k int8)",
        locks: [MigrationLock("sessions", .everybody, readsAll: true)])

    /// Whether they may migrate or not: what is ahead of them was applied on purpose.
    @Test(arguments: [true, false])
    func committersStartOnASchemaAheadOfThem(migrates: Bool) throws {
        let database = try LivePostgres.freshDatabase()
        _ = try Migrator(migrations + [Self.next]).migrate(database.connectionString)
        let preparation = SchemaPreparation(migrator: try Migrator(migrations), migrates: migrates)
        #expect(try preparation.attempt(database.connectionString) == 0)
    }

    @Test func committersThatMayNotMigrateDoNotStartOnASchemaBehindThem() throws {
        let database = try LivePostgres.freshDatabase()
        _ = try Migrator(migrations).migrate(database.connectionString)
        let preparation = SchemaPreparation(migrator: try Migrator(migrations + [Self.next]), migrates: false)
        let error = #expect(throws: OutdatedSchema.self) { try preparation.attempt(database.connectionString) }
        #expect(error?.missing == 1)
    }

    @Test func aPlanHasTheSizesOfTables() throws {
        let tables = try LiveTables()
        let (url, pending) = (tables.database.connectionString, [Self.next])
        let migrator = try Migrator(migrations + pending)
        _ = try tables.rows(
            """
            INSERT INTO sessions (room_id, session, user_id, hw, claim)
            SELECT 'r', 's' || n, 'u', 1, 1 FROM generate_series(1, 20000) AS n
            """)
        let other = try tables.database.connect()
        try other.execute("BEGIN")
        _ = try other.execute("SELECT 1")
        let plan = try migrator.plan(url)
        #expect(plan.steps.map(\.migration) == pending)
        let sessions = try #require(plan.steps[0].locks.first)
        #expect(sessions.bytes > 1 << 20)
        #expect(sessions.seconds > 0.05 + Double(1 << 20) / MigrationPlan.bytesPerSecond)
        #expect(try #require(plan.oldestTransaction) >= 0)
        // Looking has changed nothing.
        #expect(try migrator.pending(url) == pending)
        _ = try migrator.migrate(url)
        #expect(try migrator.plan(url).steps.isEmpty)
    }
}
