import CSchema
package import Postgres
internal import Synchronization

/// Signals the committer's thread that the schema is up to date.
final class SchemaGate: Sendable {
    private let flag = Atomic(false)

    var isOpen: Bool { self.flag.load(ordering: .acquiring) }

    func open() {
        self.flag.store(true, ordering: .releasing)
    }
}

/// Why a committer that does not migrate ends at its start.
package struct OutdatedSchema: Error, CustomStringConvertible {
    /// The number of migrations that are not applied.
    package let missing: Int

    package var description: String {
        "the database's schema is too old: \(self.missing) migrations are not applied; run touchsync migrate as the "
            + "owner of the tables"
    }
}

/// Brings the schema up to date, or only makes sure that it is. All calls block.
package struct SchemaPreparation {
    let migrator: Migrator
    /// False: the schema is somebody else's to change.
    let migrates: Bool

    /// - Parameters:
    ///   - migrator: with the migrations of this program.
    ///   - migrates: false when the schema is somebody else's to change.
    package init(migrator: Migrator, migrates: Bool) {
        self.migrator = migrator
        self.migrates = migrates
    }

    /// One attempt.
    /// - Returns: the number of migrations that it applied.
    /// - Throws: ``OutdatedSchema``, ``Postgres/MigrationError`` or ``Postgres/PostgresError``.
    package func attempt(_ databaseURL: String) throws -> Int {
        do {
            if self.migrates { return try self.migrate(databaseURL) }
            let missing = try self.migrator.pending(databaseURL).count
            guard missing == 0 else { throw OutdatedSchema(missing: missing) }
        } catch MigrationError.newerDatabase {
            // During an upgrade the schema is a release ahead, and made for committers of the release before as well.
        }
        return 0
    }

    private func migrate(_ databaseURL: String) throws -> Int {
        let applied = try self.migrator.migrate(databaseURL).count
        if applied > 0 { try RuntimeRole.renew(on: databaseURL) }
        return applied
    }

    /// What to tell an operator of a failed attempt, in `/readyz`.
    static func note(on error: any Error) -> String {
        if let error = error as? PostgresError, error.sqlState == .insufficientPrivilege {
            return "this role may not bring the schema up to date: run touchsync migrate as the owner of the tables, "
                + "with --runtime-role"
        }
        if let error = error as? MigrationError, case .tablesInUse = error { return "\(error)" }
        return "the schema cannot be brought up to date"
    }
}

/// The database's schema: one migration for each file of `Schema/`, which the build embeds in the program.
///
/// `touchsync migrate` and, if enabled, a starting committer apply missing migrations.
/// `grant_runtime` has to name what daemons need of each of them. The locks are for `touchsync migrate --plan`.
package let migrations: [Migration] = [
    // Databases with a version below the first are refused.
    Migration(19, "schema"),
    Migration(20, "room-gestures"),
    Migration(21, "pictures"),
]

extension Migration {
    fileprivate init(_ version: Int, _ name: String, locks: [MigrationLock] = []) {
        self.init(version: version, name: name, sql: String(cString: schema_file(Int32(version))), locks: locks)
    }
}
