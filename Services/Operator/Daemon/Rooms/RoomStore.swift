internal import Boot
package import Canvas
package import CommitterCore
internal import CommitterDaemon
internal import JSONBytes
package import Postgres
package import Wire

/// One room in the database, as the operator's commands read and change it.
///
/// A change is written as a committer writes: a `ShardLedger` decides it, and `commit_batch` compares the shard's
/// version. So numbers, chain and log have one implementation, members and other committers need not know who wrote, and
/// a command competes with a running pipeline as a second committer does. SQL functions of its own would have to repeat
/// all of that, and could not: the chain and the texts of the log are made in the core.
package final class RoomStore {
    /// A room at one moment.
    package struct Contents: Sendable {
        /// The name of the database's history.
        package var epoch: String
        /// The room's last number; 0: never used.
        package var seq: UInt64
        package var elements: [Element]
    }

    /// Requests for one commit: many more than it ever needs, unless other commits are always faster.
    private static let mostRequests = 1000
    /// The author of the commits, in the log and for members.
    static let user: Identifier = "operator"

    package let room: Identifier
    let limits: CommitterLimits
    private let connection: BlockingConnection
    private var ledger: ShardLedger
    private var batches = BatchColumns()
    private var states = StateColumns()

    /// A room in a database whose tables are up to date.
    package init(
        _ room: String, on connection: BlockingConnection, limits: CommitterLimits = CommitterLimits()
    ) {
        self.limits = limits
        self.room = Identifier(room)
        self.connection = connection
        // Operations apply no rules.
        self.ledger = ShardLedger(shard: Shard.of(room: self.room), rules: .defaults, limits: limits)
    }

    // MARK: Reading

    /// The room in one snapshot.
    package func contents() throws -> Contents {
        var parameters = Parameters()
        parameters.append(text: self.room.text)
        parameters.append(int2: Int16(Shard.of(room: self.room)))
        let rows = try self.connection.execute("SELECT epoch, seq, element FROM read_room($1, $2)", parameters)
        let element = try rows.column("element")
        guard let epoch = rows.text(0, try rows.column("epoch")), let seq = rows.int8(0, try rows.column("seq")) else {
            throw OperatorFailure("the database has no shards; see touchsync doctor")
        }
        var contents = Contents(epoch: epoch, seq: UInt64(clamping: seq), elements: [])
        var document = JSONDocument()
        for row in 0..<rows.count {
            guard let text = rows.bytes(row, element) else { continue }
            guard (try? document.parse(text, limits: .element)) != nil,
                let element = Element(json: document.root)
            else {
                throw OperatorFailure("an element of the room cannot be read: \(String(decoding: text, as: UTF8.self))")
            }
            contents.elements.append(element)
        }
        return contents
    }

    /// Those of these ids that are or were in use in the room.
    package func usedIDs(among ids: [String]) throws -> Set<Identifier> {
        var array = BinaryArray(of: .text)
        for id in ids { array.append(text: id) }
        var parameters = Parameters()
        parameters.append(text: self.room.text)
        parameters.append(array: array)
        let rows = try self.connection.execute(
            "SELECT id FROM elements WHERE room_id = $1 AND id = ANY ($2)", parameters)
        return Set((0..<rows.count).compactMap { rows.text($0, 0).map { Identifier($0) } })
    }

    /// The highest number that a command's stream has used in the room; 0: none.
    package func highestNumber(in session: Identifier) throws -> UInt64 {
        var parameters = Parameters()
        parameters.append(text: self.room.text)
        parameters.append(text: session.text)
        let rows = try self.connection.execute(
            "SELECT hw FROM sessions WHERE room_id = $1 AND session = $2", parameters)
        return UInt64(clamping: rows.int8(0, 0) ?? 0)
    }

    // MARK: Changing

    /// Commits an operation.
    /// - Returns: the room's number after it.
    /// - Throws: a ``Wire/Refusal`` when it cannot be applied; other errors leave its outcome open.
    func commit(_ operation: RoomOperation, session: Identifier, number: UInt64) throws -> UInt64 {
        _ = self.ledger.admit(
            PreparedCommit(operation, in: self.room, session: session, number: number, user: Self.user))
        for _ in 0..<Self.mostRequests {
            switch self.ledger.next(at: WallClock.exactMilliseconds()) {
            case .load(let request): self.ledger.stateLoaded(try self.load(request))
            case .write(let batch):
                guard try self.write(batch) else {
                    self.ledger.batchStale()
                    continue
                }
                return try Self.seq(of: self.ledger.batchWritten())
            case nil: throw OperatorFailure("the commit was not decided")
            }
        }
        throw OperatorFailure("other commits to the room's shard were always faster; run the command again")
    }

    private func load(_ request: LoadRequest) throws(PostgresError) -> LoadedState {
        try self.states.decode(
            try self.connection.execute(StateColumns.statement.sql, self.states.encode(request)))
    }

    /// Returns false when nothing was written, because the shard has moved on.
    private func write(_ batch: ShardBatch) throws(PostgresError) -> Bool {
        do throws(PostgresError) {
            return try self.connection.execute(BatchColumns.statement.sql, self.batches.encode(batch)).bool(0, 0)
                ?? false
        } catch {
            if BatchFailure(error) == .stale { return false }
            throw error
        }
    }

    private static func seq(of settlement: ShardLedger.Settlement) throws -> UInt64 {
        guard let result = settlement.results.first?.result else { throw OperatorFailure("the commit has no result") }
        if let refusal = result.refusal { throw refusal }
        return result.seq
    }
}
