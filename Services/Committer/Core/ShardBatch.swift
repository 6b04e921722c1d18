package import Wire

/// The content of one database transaction: the arguments of `commit_batch`.
package struct ShardBatch: Equatable, Sendable {
    package var shard: Int
    /// The version of the shard on which everything was decided. At another version nothing is written.
    package var version: UInt64
    /// The shard's chain at that version.
    package var base: UInt64
    /// The last number in the shard's order after the batch.
    package var gseq: UInt64
    /// The shard's chain after the batch.
    package var chain: UInt64
    package var rooms = KeyedRows<Identifier, StoredRoom>()
    /// The elements after the batch, each once.
    package var elements: [ElementRow] = []
    /// The log's new rows, in order.
    package var log: [LogRow] = []
    /// The streams whose highest number increased.
    package var streams = KeyedRows<StreamKey, StreamState>()
    package var stacks = KeyedRows<UserKey, UndoStacks>()
    /// How many sessions a user may have in a room: a new one evicts the oldest idle ones beyond.
    package var userSessions = CommitterLimits().userSessions
    package var refusals: [RefusalRow] = []

    package init(shard: Int, version: UInt64, gseq: UInt64, chain: UInt64 = 0) {
        self.shard = shard
        self.version = version
        self.base = chain
        self.gseq = gseq
        self.chain = chain
    }

    package struct ElementRow: Equatable, Sendable {
        package var room: Identifier
        /// The element; for a deleted one its last state.
        package var live: LiveElement
        /// The room's number of its last update.
        package var seq: UInt64
        /// True when that update deleted it.
        package var isDeleted: Bool
        /// True when it was deleted before the batch: an undo brought it back.
        package var isRestored = false
    }

    package struct LogRow: Equatable, Sendable {
        package var room: Identifier
        /// Its number in the room's order.
        package var seq: UInt64
        /// Its number in the shard's order.
        package var gseq: UInt64
        package var event: UpdateEvent
        package var user: Identifier
        /// The stream of numbers it belongs to.
        package var session: Identifier
        package var number: UInt64
        package var gestures: ShortList<EndedGesture>
        /// The element; nil when several were created.
        package var element: Identifier?
        package var hash: UInt64
        /// The shard's chain after it.
        package var chain: UInt64
        /// JSON text: the element before; an array of elements for a deletion; nil when created.
        package var before: [UInt8]?
        /// JSON text: the element after the commit; an array when several were created; nil when deleted.
        package var after: [UInt8]?
        /// Its place in its user's undo or redo stack; nil when it is on none.
        package var link: UndoLink?
        package var cause = UpdateCause.edit
        /// The entry that an undo or a redo was made from.
        package var undone: UndoneEntry?
        /// JSON text: what was stored differently from what was sent; nil: nothing.
        package var adjusted: [UInt8]?
    }

    /// A commit that used up its number without a change.
    package struct RefusalRow: Equatable, Sendable {
        /// Why it changed nothing.
        package enum Outcome: Equatable, Sendable {
            case refused(Refusal)
            /// Nothing was left to undo, or to redo; the room's number at the time.
            case unchanged(seq: UInt64)
        }

        package var key: CommitKey
        package var hash: UInt64
        package var outcome: Outcome
    }
}

/// Rows by their keys, each key once, in the order in which these came.
package struct KeyedRows<Key: Hashable & Sendable, Value: Equatable & Sendable>: Equatable, Sendable {
    package private(set) var rows: [Row] = []
    private var indices: [Key: Int] = [:]

    package struct Row: Equatable, Sendable {
        package let key: Key
        package fileprivate(set) var value: Value
    }

    mutating func reserveCapacity(_ count: Int) { self.indices.reserveCapacity(count) }

    subscript(key: Key) -> Value? { self.index(of: key).map { self.rows[$0].value } }

    mutating func set(_ value: Value, for key: Key) {
        if let index = self.index(of: key) {
            self.rows[index].value = value
        } else {
            self.indices[key] = self.rows.count
            self.rows.append(Row(key: key, value: value))
        }
    }

    /// Most batches are of one room.
    private func index(of key: Key) -> Int? {
        self.rows.last?.key == key ? self.rows.count - 1 : self.indices[key]
    }
}
