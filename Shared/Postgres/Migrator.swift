/// Brings a database to the newest schema; any number of processes may do so concurrently.
///
/// Each migration runs in one transaction that first acquires an advisory lock and then checks what is applied, so of
/// several processes one applies it and the others find it done. All calls block.
package struct Migrator: Sendable {
    /// Locked during a migration ("tchsync" in ASCII).
    static let lockKey: Int64 = 0x74_6368_7379_6E63
    /// The longest wait of a migration for a lock on a table, ms. Meanwhile new statements on the table queue behind it.
    package static let lockTimeout = 2000

    let migrations: [Migration]

    /// All migrations, in ascending order.
    package init(_ migrations: [Migration]) throws(MigrationError) {
        var last = 0
        for migration in migrations {
            guard migration.version > last else { throw .unordered(version: migration.version) }
            last = migration.version
        }
        self.migrations = migrations
    }

    /// Applies the missing migrations.
    ///
    /// - Parameters:
    ///   - begins: called before each of them, in its transaction.
    ///   - ends: called when it is committed, with the time since it began.
    /// - Returns: the migrations that this call applied; empty when nothing was missing.
    /// - Throws: ``MigrationError`` or ``PostgresError``. Migrations applied before an error stay applied. After
    ///   ``MigrationError/tablesInUse(version:name:)`` try again, with a pause in which others get at the tables.
    @discardableResult
    package func migrate(
        _ connectionString: String, begins: (Migration) -> Void = { _ in },
        ends: (Migration, Duration) -> Void = { _, _ in }
    ) throws -> [Migration] {
        let connection = try BlockingConnection(connectionString, applicationName: "touchsync migrate")
        defer { connection.close() }
        var applied: [Migration] = []
        // The usual case, without a lock that others would wait for.
        guard try !pending(on: connection).isEmpty || !hasTable(connection) else { return [] }
        while let (migration, start) = try applyNext(on: connection, begins: begins) {
            ends(migration, .now - start)
            applied.append(migration)
        }
        return applied
    }

    /// The migrations that ``migrate(_:)`` would apply; changes nothing.
    package func pending(_ connectionString: String) throws -> [Migration] {
        let connection = try BlockingConnection(connectionString, applicationName: "touchsync migrate")
        defer { connection.close() }
        return try pending(on: connection)
    }

    private func applyNext(
        on connection: BlockingConnection, begins: (Migration) -> Void
    ) throws -> (Migration, start: ContinuousClock.Instant)? {
        try connection.transaction {
            var key = Parameters()
            key.append(int8: Self.lockKey)
            try connection.execute("SELECT pg_advisory_xact_lock($1)", key)
            // A new statement, so it sees what the previous holder of the lock has committed.
            try createTable(connection)
            guard let next = try pending(on: connection).first else { return nil }
            let start = ContinuousClock.now
            begins(next)
            do throws(PostgresError) {
                try connection.execute("SET LOCAL lock_timeout = \(Self.lockTimeout)")
                try connection.executeScript(next.sql)
            } catch {
                if error.sqlState == .lockNotAvailable {
                    throw MigrationError.tablesInUse(version: next.version, name: next.name)
                }
                throw MigrationError.failed(version: next.version, name: next.name, error)
            }
            var row = Parameters()
            row.append(int8: Int64(next.version))
            row.append(text: next.name)
            row.append(text: next.checksum)
            try connection.execute("INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)", row)
            return (next, start)
        }
    }

    private func createTable(_ connection: BlockingConnection) throws(PostgresError) {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS schema_migrations (
                version bigint PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            )
            """)
    }

    private func hasTable(_ connection: BlockingConnection) throws(PostgresError) -> Bool {
        try connection.execute("SELECT to_regclass('schema_migrations') IS NOT NULL").bool(0, 0) ?? false
    }

    func pending(on connection: BlockingConnection) throws -> [Migration] {
        guard try hasTable(connection) else { return migrations }
        let rows = try connection.execute("SELECT version, name, checksum FROM schema_migrations ORDER BY version")
        let column = (
            version: try rows.column("version"), name: try rows.column("name"), checksum: try rows.column("checksum")
        )
        var rest = migrations[...]
        for row in 0..<rows.count {
            let version = rows.int8(row, column.version).flatMap { Int(exactly: $0) } ?? 0
            let name = rows.text(row, column.name) ?? ""
            let checksum = rows.text(row, column.checksum) ?? ""
            if let oldest = migrations.first, version < oldest.version { throw MigrationError.tooOld(version: version) }
            guard let expected = rest.first, version >= expected.version else {
                throw MigrationError.newerDatabase(version: version, name: name)
            }
            guard expected.version == version else {
                throw MigrationError.skipped(version: expected.version, name: expected.name)
            }
            guard expected.checksum == checksum else {
                throw MigrationError.checksumMismatch(version: version, name: expected.name)
            }
            rest = rest.dropFirst()
        }
        return Array(rest)
    }
}

extension Migrator {
    /// Creates the database of the connection string if it does not exist. The role needs CREATEDB.
    ///
    /// - Returns: true when this call created it.
    package static func ensureDatabase(_ connectionString: String) throws -> Bool {
        do throws(PostgresError) {
            try BlockingConnection(connectionString, applicationName: "touchsync migrate").close()
            return false
        } catch {
            guard error.sqlState == .undefinedDatabase else { throw error }
        }
        var options = try ConnectionTargets.parse(connectionString)
        guard let name = options["dbname"], !name.isEmpty else { throw MigrationError.noDatabaseName }
        options["dbname"] = "postgres"
        let connection = try BlockingConnection(
            ConnectionTargets.text(of: options), applicationName: "touchsync migrate")
        defer { connection.close() }
        let quoted = name.replacing("\"", with: "\"\"")
        do throws(PostgresError) {
            // The collation must not change under the indexes with the system's locales.
            try connection.execute(
                "CREATE DATABASE \"\(quoted)\" ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' "
                    + "TEMPLATE template0")
            return true
        } catch {
            // Another process was faster.
            guard error.sqlState == .duplicateDatabase || error.sqlState == .uniqueViolation else { throw error }
            return false
        }
    }
}
