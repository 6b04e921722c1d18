package import Postgres

/// The database's schema: one migration for each file of `Schema/`, which the build embeds in the program.
///
/// `touchsync migrate` and, if enabled, a starting committer apply missing migrations.
/// `grant_runtime` has to name what daemons need of each of them. The locks are for `touchsync migrate --plan`.
package let migrations: [Migration] = [
    // Before the first release, version 1 was another text. Those databases cannot be converted.
    Migration(1, "history", PackageResources._001_history_sql, supersedes: ["a42bfaa5ce92627e"]),
    Migration(2, "shards-and-rooms", PackageResources._002_shards_and_rooms_sql),
    Migration(3, "elements", PackageResources._003_elements_sql),
    Migration(4, "commit-log", PackageResources._004_commit_log_sql),
    Migration(5, "sessions", PackageResources._005_sessions_sql),
    Migration(6, "commit-batch", PackageResources._006_commit_batch_sql),
    Migration(7, "reads", PackageResources._007_reads_sql),
    Migration(
        8, "undo", PackageResources._008_undo_sql,
        locks: [MigrationLock("commit_log", .everybody), MigrationLock("sessions", .everybody, readsAll: true)]),
    Migration(
        9, "limits", PackageResources._009_limits_sql,
        locks: [MigrationLock("rooms", .everybody), MigrationLock("elements", .everybody, readsAll: true)]),
    Migration(10, "roles", PackageResources._010_roles_sql),
    Migration(
        11, "request-sessions", PackageResources._011_request_sessions_sql,
        locks: [MigrationLock("sessions", .everybody, readsAll: true)]),
    Migration(12, "look-ups", PackageResources._012_look_ups_sql),
    Migration(13, "session-floor", PackageResources._013_session_floor_sql),
    Migration(
        14, "living-elements", PackageResources._014_living_elements_sql,
        locks: [MigrationLock("elements", .writers, readsAll: true)]),
]

extension Migration {
    fileprivate init(
        _ version: Int, _ name: String, _ file: [UInt8], locks: [MigrationLock] = [], supersedes: Set<String> = []
    ) {
        self.init(
            version: version, name: name, sql: String(decoding: file, as: UTF8.self), locks: locks,
            supersedes: supersedes)
    }
}
