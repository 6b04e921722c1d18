package import Postgres

/// The database's schema: what `touchsync migrate` and, when it is allowed, a starting committer apply. A migration that
/// was released is never changed; the next one stands behind it.
package let migrations: [Migration] = [
    Migration(version: 1, name: "tables", sql: SchemaSQL.tables),
    Migration(
        version: 2, name: "functions", sql: ([CommitBatchSQL.commitBatch] + ReadSQL.all).joined(separator: ";\n")),
    Migration(version: 3, name: "log by days", sql: LogPartitionSQL.all.joined(separator: ";\n")),
    Migration(version: 4, name: "end of sessions", sql: SessionSweepSQL.all.joined(separator: ";\n")),
    Migration(version: 5, name: "history", sql: HistorySQL.all.joined(separator: ";\n")),
    Migration(version: 6, name: "checks", sql: CheckSQL.all.joined(separator: ";\n")),
    Migration(version: 7, name: "update first", sql: CommitBatchSQL.updatingCommitBatch),
    Migration(version: 8, name: "arrays by place", sql: ArrayPlaceSQL.all.joined(separator: ";\n")),
]
