/// A lock that a migration takes on a table that is there before it, and keeps until its end.
package struct MigrationLock: Hashable, Sendable {
    /// Whose statements wait meanwhile.
    package enum Waiting: String, Sendable {
        /// Those that write.
        case writers
        /// All.
        case everybody
    }

    /// The table; for a partitioned one its partitions are meant, too.
    package let table: String
    /// Whose statements on the table wait.
    package let waiting: Waiting
    /// True when the table is read as a whole, for an index or for a check of its rows: the lock lasts longer the larger
    /// it is. Otherwise the lock is short whatever the table's size.
    package let readsAll: Bool

    package init(_ table: String, _ waiting: Waiting, readsAll: Bool = false) {
        self.table = table
        self.waiting = waiting
        self.readsAll = readsAll
    }
}

/// One step of the schema: SQL that runs once in every database, in its own transaction.
///
/// Once released it must never change; further changes are another migration. Statements that cannot run in a
/// transaction (CREATE INDEX CONCURRENTLY and the like) are not supported.
package struct Migration: Equatable, Sendable {
    /// From 1 upwards.
    package let version: Int
    /// For people.
    package let name: String
    /// One or more statements.
    package let sql: String
    /// What it locks in a database that is in use.
    package let locks: [MigrationLock]

    package init(version: Int, name: String, sql: String, locks: [MigrationLock] = []) {
        self.version = version
        self.name = name
        self.sql = sql
        self.locks = locks
    }

    /// Detects an applied migration that was edited later: FNV-1a over the SQL, 16 hexadecimal digits.
    package var checksum: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in sql.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Why the schema cannot be brought to the version of this program.
package enum MigrationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The given list is not strictly ascending from 1.
    case unordered(version: Int)
    /// An applied migration was edited later.
    case checksumMismatch(version: Int, name: String)
    /// The database contains all migrations of this program and others that it does not know: a newer program applied
    /// them.
    case newerDatabase(version: Int, name: String)
    /// A migration older than the newest applied one was never applied here.
    case skipped(version: Int, name: String)
    /// A migration from before the first of this program made the database, and its tables cannot be converted.
    case tooOld(version: Int)
    /// Transactions of others have used tables of a migration for longer than ``Migrator/lockTimeout``; it was rolled
    /// back, and may be tried again.
    case tablesInUse(version: Int, name: String)
    /// A migration's SQL failed; it was rolled back.
    case failed(version: Int, name: String, PostgresError)
    /// The connection string names no database, so none can be created.
    case noDatabaseName

    /// Whether only another database helps.
    package var isTooOld: Bool { if case .tooOld = self { true } else { false } }

    package var description: String {
        switch self {
        case .unordered(let version):
            "migration \(version): versions must start at 1 or later and ascend"
        case .checksumMismatch(let version, let name):
            "migration \(version) (\(name)) was changed after it was applied to this database; "
                + "restore its text and put the change into a new migration"
        case .newerDatabase(let version, let name):
            "the database has migration \(version) (\(name)), which this program does not know; run a newer program"
        case .skipped(let version, let name):
            "migration \(version) (\(name)) was not applied, but a later one was"
        case .tooOld(let version):
            "the database has the schema \(version), whose tables this version can neither use nor convert; it has "
                + "changed nothing. Export the rooms with the version that made it (touchsync room export), and import "
                + "them into an empty database"
        case .tablesInUse(let version, let name):
            "migration \(version) (\(name)) waits for tables that other transactions use"
        case .failed(let version, let name, let error):
            "migration \(version) (\(name)) failed: \(error)"
        case .noDatabaseName:
            "the connection string names no database"
        }
    }
}
