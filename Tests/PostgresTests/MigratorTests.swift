import Dispatch
import PipelineTestKit
import Testing

@testable import Postgres

@Suite("Migrations", .serialized, .timeLimit(.minutes(1)))
struct MigratorTests {
    let database: LiveDatabase
    let first = Migration(version: 1, name: "tables", sql: "CREATE TABLE a (k int8); CREATE TABLE b (k int8);")
    let second = Migration(version: 2, name: "rows", sql: "INSERT INTO a VALUES (1);\nINSERT INTO b VALUES (2);")

    init() throws {
        database = try LivePostgres.freshDatabase()
    }

    @Test func appliedOnceInOrderAndThenNothingToDo() throws {
        let migrator = try Migrator([first, second])
        #expect(try migrator.pending(database.connectionString) == [first, second])
        var events: [String] = []
        let applied = try migrator.migrate(database.connectionString) { migration in
            events.append("begins \(migration.name)")
        } ends: { migration, time in
            events.append("ends \(migration.name)")
            #expect(time > .zero)
        }
        #expect(applied == [first, second])
        #expect(events == ["begins tables", "ends tables", "begins rows", "ends rows"])
        #expect(try migrator.migrate(database.connectionString) == [])
        let rows = try database.connect().execute("SELECT version, name, checksum, applied_at FROM schema_migrations")
        #expect(rows.count == 2 && rows.text(1, 1) == "rows" && rows.text(1, 2) == second.checksum)
        #expect(!rows.isNull(0, 3))
        let third = Migration(version: 10, name: "later", sql: "DROP TABLE b")
        #expect(try Migrator([first, second, third]).migrate(database.connectionString) == [third])
    }

    @Test func aFailingOneLeavesNothingBehindTheOnesBeforeStay() throws {
        let bad = Migration(version: 3, name: "bad", sql: "CREATE TABLE c (k int8); SELECT 1/0;")
        do {
            try Migrator([first, second, bad]).migrate(database.connectionString)
            Issue.record("it did not fail")
        } catch let error as MigrationError {
            guard case .failed(3, "bad", let reason) = error else { throw error }
            #expect(reason.sqlState == SQLState("22012"))
            #expect("\(error)".contains("migration 3 (bad)"))
        }
        let rows = try database.connect().execute("SELECT to_regclass('a') IS NOT NULL, to_regclass('c') IS NULL")
        #expect(rows.bool(0, 0) == true && rows.bool(0, 1) == true)
        #expect(try Migrator([first, second]).pending(database.connectionString) == [])
    }

    @Test func tablesThatOthersUseAreWaitedForOnlyShortlyAndTheMigrationMayBeTriedAgain() throws {
        let wider = Migration(
            version: 3, name: "wider", sql: "CREATE TABLE d (k int8); ALTER TABLE a ADD COLUMN v int8")
        let migrator = try Migrator([first, second, wider])
        try Migrator([first, second]).migrate(database.connectionString)
        let (reader, other) = (try database.connect(), try database.connect())
        try reader.transaction {
            try reader.execute("SELECT FROM a")
            #expect(throws: MigrationError.tablesInUse(version: 3, name: "wider")) {
                try migrator.migrate(database.connectionString)
            }
            // Whoever came meanwhile got through, and nothing is half done.
            #expect(try other.execute("SELECT to_regclass('d') IS NULL FROM a").bool(0, 0) == true)
        }
        #expect(try migrator.migrate(database.connectionString) == [wider])
    }

    @Test func anEditedASkippedANewerAndATooOldOneAreErrorsThatNameThem() throws {
        try Migrator([first, Migration(version: 5, name: "five", sql: "SELECT 1")]).migrate(database.connectionString)
        let edited = Migration(version: 1, name: "tables", sql: "CREATE TABLE z (k int8)")
        #expect(throws: MigrationError.checksumMismatch(version: 1, name: "tables")) {
            try Migrator([edited]).migrate(database.connectionString)
        }
        #expect(throws: MigrationError.newerDatabase(version: 5, name: "five")) {
            try Migrator([first]).migrate(database.connectionString)
        }
        #expect(throws: MigrationError.skipped(version: 2, name: "rows")) {
            try Migrator([first, second]).pending(database.connectionString)
        }
        let five = Migration(version: 5, name: "five", sql: "SELECT 1")
        #expect(throws: MigrationError.skipped(version: 2, name: "rows")) {
            try Migrator([first, second, five]).migrate(database.connectionString)
        }
        #expect(throws: MigrationError.tooOld(version: 1)) {
            try Migrator([second, five]).migrate(database.connectionString)
        }
    }

    @Test("eight at once: each is applied by exactly one of them")
    func concurrent() async throws {
        let all = (1...6).map { Migration(version: $0, name: "m\($0)", sql: "CREATE TABLE m\($0) (k int8)") }
        let migrator = try Migrator(all)
        let target = database.connectionString
        let applied = await withTaskGroup(of: Result<[Migration], any Error>.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    // Blocking work does not belong on the cooperative pool.
                    await withCheckedContinuation { continuation in
                        DispatchQueue.global().async {
                            continuation.resume(returning: Result { try migrator.migrate(target) })
                        }
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let versions = try applied.flatMap { try $0.get().map(\.version) }
        #expect(versions.sorted() == [1, 2, 3, 4, 5, 6])
    }

    @Test("a missing database is created, with text in byte order; an existing one is left alone")
    func ensureDatabase() throws {
        var options = try ConnectionTargets.parse(database.connectionString)
        let name = "odd \"name' \(database.name)"
        options["dbname"] = name
        let target = ConnectionTargets.text(of: options)
        #expect(try Migrator.ensureDatabase(target))
        #expect(try !Migrator.ensureDatabase(target))
        let rows = try BlockingConnection(target).execute(
            """
            SELECT datname::text, datcollate, pg_encoding_to_char(encoding)::text FROM pg_database
            WHERE datname = current_database()
            """)
        #expect(rows.text(0, 0) == name && rows.text(0, 1) == "C" && rows.text(0, 2) == "UTF8")
        try database.connect().execute("DROP DATABASE \"\(name.replacing("\"", with: "\"\""))\"")
        // Without a name libpq takes the role's, and nobody said that this database is wanted.
        try database.connect().execute("CREATE ROLE homeless LOGIN")
        options["dbname"] = nil
        options["user"] = "homeless"
        #expect(throws: MigrationError.noDatabaseName) {
            try Migrator.ensureDatabase(ConnectionTargets.text(of: options))
        }
    }
}
