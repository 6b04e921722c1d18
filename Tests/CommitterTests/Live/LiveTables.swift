import Canvas
import CommitterDaemon
import PipelineTestKit
import Postgres
import Timing
import TimingTestKit
import Wire

@testable import CommitterCore

/// The real schema on a real server, written and read by the real functions over one blocking connection.
final class LiveTables {
    let database: LiveDatabase
    let connection: BlockingConnection
    private var batches = BatchColumns()
    private var states = StateColumns()

    /// - Parameter role: connects as this role instead of the owner.
    init(_ shared: LiveDatabase? = nil, as role: String? = nil) throws {
        let database = try shared ?? LivePostgres.freshDatabase()
        self.database = database
        _ = try Migrator(migrations).migrate(database.connectionString)
        self.connection = try role.map { try database.connect(as: $0) } ?? database.connect()
    }

    func load(_ request: LoadRequest) throws(PostgresError) -> LoadedState {
        let rows = try self.connection.execute(StateColumns.statement.sql, self.states.encode(request))
        return try self.states.decode(rows)
    }

    func write(_ batch: ShardBatch) throws(PostgresError) -> Bool {
        try self.connection.execute(BatchColumns.statement.sql, self.batches.encode(batch)).bool(0, 0) ?? false
    }

    /// Sends a batch without waiting for its transaction: the caller commits it.
    func begin(_ batch: ShardBatch) throws -> Bool {
        try self.connection.executeScript("BEGIN")
        return try self.write(batch)
    }

    func rows(_ sql: String) throws -> ResultRows { try self.connection.execute(sql) }

    func number(_ sql: String) throws -> Int64? { try self.rows(sql).int8(0, 0) }

    /// Nil when the statement succeeds, else the code of its failure.
    func failure(_ sql: String) -> SQLState? {
        do throws(PostgresError) {
            _ = try self.connection.execute(sql)
            return nil
        } catch { return error.sqlState }
    }
}

extension ShardLedger {
    /// Runs everything that waits against real tables.
    mutating func run(on tables: LiveTables) throws -> Settlement {
        var all = Settlement()
        while let request = self.next(at: 0) {
            do throws(PostgresError) {
                switch request {
                case .load(let load): self.stateLoaded(try tables.load(load))
                case .write(let batch):
                    if try tables.write(batch) { all.append(self.batchWritten()) } else { self.batchStale() }
                }
            } catch {
                switch BatchFailure(error) {
                case .stale: self.batchStale()
                case .other(let failure): all.append(self.requestFailed(failure, at: 0))
                }
            }
        }
        return all
    }
}

func ledger(_ room: Identifier = "room") -> ShardLedger {
    ShardLedger(shard: Shard.of(room: room), rules: .defaults, limits: CommitterLimits())
}

extension ShardLedger {
    mutating func admit(_ commits: [Commit]) {
        for commit in commits {
            _ = self.admit(PreparedCommit(commit, size: 100, arrived: 0))
        }
    }
}

extension SQLState {
    /// A CHECK constraint of the tables was violated.
    static let checkViolation = SQLState("23514")
}
