import CommitterDaemon
import PipelineTestKit
import Testing

@testable import Postgres

/// Each migration on a real server, on the schema of those before it.
@Suite(.timeLimit(.minutes(1))) struct LiveMigrationStepTests {
    private let connection: BlockingConnection
    private let database: LiveDatabase

    init() throws {
        self.database = try LivePostgres.freshDatabase()
        self.connection = try self.database.connect()
    }

    private func texts(_ sql: String) throws -> Set<String> {
        let rows = try self.connection.execute(sql)
        return Set((0..<rows.count).compactMap { rows.text($0, 0) })
    }

    private static let tables = "relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace"

    /// The locks in force on some tables that make others wait, as the plan names them.
    private func locks(on tables: Set<String>) throws -> [String: MigrationLock.Waiting] {
        let held = try self.texts(
            """
            SELECT c.relname || ' ' || l.mode FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation
            WHERE l.pid = pg_backend_pid() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
            """)
        var found: [String: MigrationLock.Waiting] = [:]
        for lock in held {
            let words = lock.split(separator: " ").map(String.init)
            guard tables.contains(words[0]), found[words[0]] != .everybody else { continue }
            found[words[0]] = words[1] == "AccessExclusiveLock" ? .everybody : .writers
        }
        return found
    }

    /// A table that got an index, or other files, was read as a whole. Also those of partitions.
    private func storage() throws -> [String: Set<String>] {
        let files = try self.texts(
            """
            SELECT c.relname || ' ' || c.relfilenode || coalesce(' ' || i.indexrelid, '')
            FROM pg_class AS c LEFT JOIN pg_index AS i ON i.indrelid = c.oid WHERE \(Self.tables)
            """)
        return Dictionary(grouping: files) { String($0.prefix { $0 != " " }) }.mapValues(Set.init)
    }

    @Test func migrationsLockWhatTheySay() throws {
        for migration in migrations {
            let tables = try self.texts("SELECT relname FROM pg_class WHERE \(Self.tables)")
            let before = try self.storage()
            try self.connection.transaction {
                try self.connection.executeScript(migration.sql)
                let declared = Dictionary(uniqueKeysWithValues: migration.locks.map { ($0.table, $0.waiting) })
                #expect(try self.locks(on: tables) == declared, "\(migration.name)")
            }
            let after = try self.storage()
            let read = Set(tables.filter { !(after[$0] ?? []).isSubset(of: before[$0] ?? []) })
            #expect(read == Set(migration.locks.filter(\.readsAll).map(\.table)), "\(migration.name)")
        }
    }

    /// What a release before reads, writes and calls stays as it was: a migration expands. One that contracts is listed
    /// here, with the release from which on nothing uses what it removes.
    @Test func migrationsExpand() throws {
        let contracting: [Int: String] = [:]
        // A column that may be left out before may be left out afterwards.
        let columns = """
            SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                || CASE WHEN a.attnotnull AND NOT a.atthasdef THEN ' must be given' ELSE '' END
            FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
            WHERE \(Self.tables) AND a.attnum > 0 AND NOT a.attisdropped
            """
        // Arguments are given by name, and some may be left out.
        let arguments = """
            SELECT p.proname || '(' || coalesce(argument.name, '') || ' ' || format_type(argument.type, NULL) || ')'
            FROM pg_proc AS p LEFT JOIN LATERAL unnest(p.proargnames, p.proargtypes::oid[]) AS argument (name, type) ON true
            WHERE p.pronamespace = current_schema()::regnamespace
            """
        let required = """
            SELECT p.proname || ' ' || (p.pronargs - p.pronargdefaults) FROM pg_proc AS p
            WHERE p.pronamespace = current_schema()::regnamespace
            """
        for migration in migrations {
            let tables = try self.texts("SELECT relname FROM pg_class WHERE \(Self.tables)")
            let before = try (self.texts(columns), self.texts(arguments), self.texts(required))
            try self.connection.executeScript(migration.sql)
            guard contracting[migration.version] == nil else { continue }
            let after = try (self.texts(columns), self.texts(arguments), self.texts(required))
            let gone = before.0.subtracting(after.0).union(before.1.subtracting(after.1))
            #expect(gone.isEmpty, "\(migration.name) takes away \(gone.sorted())")
            let demanded = after.0.subtracting(before.0).filter { column in
                column.hasSuffix("must be given") && tables.contains(String(column.prefix { $0 != "." }))
            }
            #expect(demanded.isEmpty, "\(migration.name) demands \(demanded.sorted())")
            #expect(before.2.isSubset(of: after.2), "\(migration.name) needs more arguments")
        }
    }

    @Test func aPlanHasTheSizesOfTables() throws {
        // The first of the others locks sessions.
        let applied = 7
        let pending = Array(migrations.dropFirst(applied))
        _ = try Migrator(Array(migrations.prefix(applied))).migrate(self.database.connectionString)
        let migrator = try Migrator(migrations)
        let empty = try migrator.plan(self.database.connectionString)
        #expect(empty.steps.map(\.migration) == pending)
        #expect(empty.steps.map(\.locks.count) == pending.map(\.locks.count))
        try self.connection.execute(
            """
            INSERT INTO sessions (room_id, session, user_id, hw, claim)
            SELECT 'r', 's' || n, 'u', 1, 1 FROM generate_series(1, 20000) AS n
            """)
        let other = try self.database.connect()
        try other.execute("BEGIN")
        _ = try other.execute("SELECT 1")
        let full = try migrator.plan(self.database.connectionString)
        let sessions = try #require(full.steps[0].locks.first { $0.lock.table == "sessions" })
        #expect(sessions.bytes > 1 << 20)
        #expect(sessions.seconds > 0.05 + Double(1 << 20) / MigrationPlan.bytesPerSecond)
        #expect(try #require(full.oldestTransaction) >= 0)
        // Looking has changed nothing.
        #expect(try migrator.pending(self.database.connectionString) == pending)
        _ = try migrator.migrate(self.database.connectionString)
        #expect(try migrator.plan(self.database.connectionString).steps.isEmpty)
    }
}
