import CSchema
package import Postgres

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
