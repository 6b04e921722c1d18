import Canvas
import DatabaseTestKit
import FanoutCore
import Testing
import Timing
import TimingTestKit
import Wire

@testable import CommitterCore

/// A model of the tables that several ledgers can share. A write that breaks what holds of the real tables is an issue.
final class TestDatabase {
    var tables = DatabaseModel()

    func write(_ batch: ShardBatch) -> DatabaseModel.Written {
        let known = self.tables.faults.count
        defer { for fault in self.tables.faults.dropFirst(known) { Issue.record("\(fault)") } }
        return self.tables.write(batch)
    }

    /// - Returns: the new session epoch; nil when the session is refused.
    func claim(_ key: StreamKey, user: Identifier) -> UInt32? {
        if case .granted(let sessionEpoch, _) = self.tables.claim(key, user: user) { sessionEpoch } else { nil }
    }

    /// The log of the room of most tests.
    var log: [ShardBatch.LogRow] { self.tables.log(of: "room") }
}

/// A ledger on a database, with the events that tests send.
final class LedgerBench {
    let database: TestDatabase
    var ledger: ShardLedger
    /// The time of day at which batches are decided, ms.
    var time = 0.0
    /// The elements that ``write()`` has read, whenever that was.
    var readElements: [ElementNeed] = []

    init(on database: TestDatabase = TestDatabase(), limits: CommitterLimits = CommitterLimits()) {
        self.database = database
        self.ledger = ShardLedger(shard: 3, rules: .defaults, limits: limits)
    }

    /// Another ledger on the same shard that knows nothing.
    func other() -> LedgerBench { LedgerBench(on: self.database) }

    @discardableResult
    func admit(_ commit: Commit, size: Int = 100, at now: Instant = 0) -> Bool {
        self.ledger.admit(PreparedCommit(commit, size: size, arrived: now))
    }

    func next() -> ShardLedger.Request? { self.ledger.next(at: self.time) }

    /// Answers reads up to the point where a write is under way.
    func write() -> ShardBatch? {
        while let request = self.ledger.next(at: self.time) {
            switch request {
            case .load(let load):
                self.readElements += load.elements
                self.ledger.stateLoaded(self.database.tables.load(load))
            case .write(let batch): return batch
            }
        }
        return nil
    }

    func written() -> ShardLedger.Settlement { self.ledger.batchWritten() }

    func fail(_ failure: RequestFailure) -> ShardLedger.Settlement { self.ledger.requestFailed(failure, at: 0) }

    func expire(at now: Instant) -> ShardLedger.Settlement { self.ledger.expire(at: now) }

    /// Runs everything that waits, without faults but lost races.
    @discardableResult
    func run() -> ShardLedger.Settlement {
        var all = ShardLedger.Settlement()
        while let batch = self.write() {
            switch self.database.write(batch) {
            case .written:
                let settlement = self.ledger.batchWritten()
                expectReplayed(settlement.updates, from: batch.log)
                all.append(settlement)
            case .stale: self.ledger.batchStale()
            case .refusedData: all.append(self.fail(.data))
            }
        }
        return all
    }
}
