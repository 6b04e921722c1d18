/// What the missing migrations would lock in a database that is in use, and for how long.
package struct MigrationPlan: Sendable {
    /// A lock that a migration would take.
    package struct Lock: Sendable {
        package let lock: MigrationLock
        /// The table's size without its indexes, bytes.
        package let bytes: Int64

        /// About how long it is kept, seconds. A careful estimate: see ``bytesPerSecond``.
        package var seconds: Double {
            MigrationPlan.shortest + (self.lock.readsAll ? Double(self.bytes) / MigrationPlan.bytesPerSecond : 0)
        }
    }

    /// A missing migration, and what it would lock. Its locks are kept until it ends, so for the longest of their times.
    package struct Step: Sendable {
        package let migration: Migration
        /// Its locks on tables that are there.
        package let locks: [Lock]

        /// About how long it takes as far as anybody waits for it, seconds.
        package var seconds: Double { self.locks.reduce(0) { $0 + $1.seconds } }
    }

    /// How fast a server reads a table and builds an index of it, at the least: machines with a disk of their own are
    /// several times as fast.
    package static let bytesPerSecond = 20.0 * 1024 * 1024
    /// How long a change of the catalogue takes, seconds.
    package static let shortest = 0.05

    /// False when the database itself is missing.
    package let databaseExists: Bool
    /// The missing migrations, in order; empty when nothing is missing.
    package let steps: [Step]
    /// How long the oldest open transaction of another session has lasted, seconds; nil when there is none. A migration
    /// waits for those that use its tables, and everybody else waits behind it.
    package let oldestTransaction: Double?
}

extension Migrator {
    /// Looks what ``migrate(_:begins:ends:)`` would do now; changes nothing and locks nothing.
    package func plan(_ connectionString: String) throws -> MigrationPlan {
        guard let connection = try Self.connection(connectionString) else {
            let steps = self.migrations.map { MigrationPlan.Step(migration: $0, locks: []) }
            return MigrationPlan(databaseExists: false, steps: steps, oldestTransaction: nil)
        }
        defer { connection.close() }
        let steps = try self.pending(on: connection).map { migration in
            MigrationPlan.Step(
                migration: migration,
                locks: try migration.locks.compactMap { lock in
                    try Self.size(of: lock.table, on: connection).map { MigrationPlan.Lock(lock: lock, bytes: $0) }
                })
        }
        let oldest = try connection.execute(
            """
            SELECT extract(epoch FROM max(clock_timestamp() - xact_start))::float8 FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        return MigrationPlan(databaseExists: true, steps: steps, oldestTransaction: oldest.float8(0, 0))
    }

    /// Nil when there is no such database.
    private static func connection(_ connectionString: String) throws(PostgresError) -> BlockingConnection? {
        do throws(PostgresError) {
            return try BlockingConnection(connectionString, applicationName: "touchsync migrate")
        } catch {
            if error.sqlState == .undefinedDatabase { return nil }
            throw error
        }
    }

    /// Nil when there is no such table: nobody waits for it.
    private static func size(of table: String, on connection: BlockingConnection) throws -> Int64? {
        var name = Parameters()
        name.append(text: table)
        let rows = try connection.execute(
            """
            SELECT sum(pg_table_size(tree.part))::int8 FROM (
                SELECT to_regclass($1)::oid AS part
                UNION SELECT relid::oid FROM pg_partition_tree(to_regclass($1))) AS tree
            WHERE tree.part IS NOT NULL
            """, name)
        return rows.int8(0, 0)
    }
}
