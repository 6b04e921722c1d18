import CSchema
package import Postgres

/// The database's schema: one migration for each file of `Schema/`, which the build embeds in the program.
///
/// `touchsync migrate` and, if enabled, a starting committer apply missing migrations.
/// `grant_runtime` has to name what daemons need of each of them. The locks are for `touchsync migrate --plan`.
package let migrations: [Migration] = [
    // Before the first release, version 1 was another text. Those databases cannot be converted.
    Migration(1, "history", supersedes: ["a42bfaa5ce92627e"]),
    Migration(2, "shards-and-rooms"),
    Migration(3, "elements"),
    Migration(4, "commit-log"),
    Migration(5, "sessions"),
    Migration(6, "commit-batch"),
    Migration(7, "reads"),
    Migration(
        8, "undo",
        locks: [MigrationLock("commit_log", .everybody), MigrationLock("sessions", .everybody, readsAll: true)]),
    Migration(
        9, "limits",
        locks: [MigrationLock("rooms", .everybody), MigrationLock("elements", .everybody, readsAll: true)]),
    Migration(10, "roles"),
    Migration(11, "request-sessions", locks: [MigrationLock("sessions", .everybody, readsAll: true)]),
    Migration(12, "look-ups"),
    Migration(13, "session-floor"),
    Migration(14, "living-elements", locks: [MigrationLock("elements", .writers, readsAll: true)]),
    Migration(15, "undo-ahead"),
    Migration(16, "session-bounds"),
    Migration(17, "other-authors", locks: [MigrationLock("elements", .everybody)]),
]

extension Migration {
    fileprivate init(_ version: Int, _ name: String, locks: [MigrationLock] = [], supersedes: Set<String> = []) {
        self.init(
            version: version, name: name, sql: String(cString: schema_file(Int32(version))), locks: locks,
            supersedes: supersedes)
    }
}
