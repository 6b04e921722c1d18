import Canvas
import Wire

/// The rows of a batch under construction: what its transaction writes, and where each room, stream, user and element
/// stands in it, so that later commits of the batch build on earlier ones.
struct BatchRows: Sendable {
    private(set) var batch: ShardBatch
    /// The elements that the commits changed or read.
    private(set) var elements: [ElementKey: DraftElement] = [:]

    /// No rows yet, with capacity for a number of commits.
    init(_ batch: ShardBatch, commits: Int) {
        self.batch = batch
        self.batch.log.reserveCapacity(commits)
        self.batch.elements.reserveCapacity(commits)
        self.elements.reserveCapacity(commits)
        self.batch.streams.reserveCapacity(commits)
    }

    // MARK: Rooms, streams and users

    /// A room's state after the commits so far; nil when none changed it.
    func room(_ room: Identifier) -> StoredRoom? { self.batch.rooms[room] }

    mutating func note(_ state: StoredRoom, for room: Identifier) { self.batch.rooms.set(state, for: room) }

    /// A stream's state after the commits so far; nil when none used up a number of it.
    func stream(_ key: StreamKey) -> StreamState? { self.batch.streams[key] }

    /// Uses up a number of a stream.
    /// - Parameter state: the stream before that.
    mutating func use(up number: UInt64, of key: StreamKey, _ state: StreamState) {
        var state = state
        state.highest = number
        self.batch.streams.set(state, for: key)
    }

    /// A user's stacks after the commits so far; nil when none changed them.
    func stacks(of user: UserKey) -> UndoStacks? { self.batch.stacks[user] }

    mutating func keep(_ stacks: UndoStacks, of user: UserKey) { self.batch.stacks.set(stacks, for: user) }

    // MARK: Elements

    /// An element's state after the commits so far; nil when none changed or read it.
    func element(_ key: ElementKey) -> ElementState? { self.elements[key]?.state }

    /// Records state that is not written.
    mutating func note(_ state: ElementState, for key: ElementKey) {
        self.elements[key, default: DraftElement(state: state)].state = state
    }

    /// An element is written once per batch, in its state after the last commit on it.
    mutating func write(_ entry: Change.Entry, seq: UInt64) {
        let row = ShardBatch.ElementRow(
            room: entry.key.room, live: entry.written, seq: seq, isDeleted: entry.isDeleted,
            isRestored: entry.isRestored)
        let after = entry.after
        let next = self.batch.elements.count
        let index = self.elements[entry.key, default: DraftElement(state: after)].write(after, next: next)
        if index == next {
            self.batch.elements.append(row)
        } else {
            let isRestored = self.batch.elements[index].isRestored
            self.batch.elements[index] = row
            self.batch.elements[index].isRestored = row.isRestored || isRestored
        }
    }

    // MARK: The log

    /// Advances the shard's order and its chain by a commit.
    /// - Returns: the commit's link of the chain.
    mutating func advance(over commit: PreparedCommit, seq: UInt64) -> UInt64 {
        self.batch.gseq += 1
        let link = HistoryChain.link(
            gseq: self.batch.gseq, room: commit.room, seq: seq, session: commit.stream.session, number: commit.number,
            body: commit.hash)
        self.batch.chain = HistoryChain.next(self.batch.chain, link)
        return link
    }

    /// Appends the row of an applied commit, at the present end of the shard's order.
    /// - Parameter adjusted: JSON text: what was stored differently from what was sent; nil: nothing.
    mutating func log(
        _ change: Change, _ commit: PreparedCommit, seq: UInt64, _ link: UndoLink?, adjusted: [UInt8]?
    ) {
        let shape = change.event.shape
        self.batch.log.append(
            ShardBatch.LogRow(
                room: commit.room, seq: seq, gseq: self.batch.gseq, event: change.event, user: commit.user,
                session: commit.stream.session, number: commit.number, gestures: commit.gestures,
                element: shape.namesElement ? change.entries.first?.key.element : nil, hash: commit.hash,
                chain: self.batch.chain, before: shape.logText(of: change.entries.lazy.compactMap(\.before)),
                after: change.logTextAfter, link: link, cause: change.cause, undone: change.undone?.entry,
                adjusted: adjusted))
    }

    /// The bytes of the elements in the log's last row.
    var lastLogBytes: Int { self.batch.log.last.map { ($0.before?.count ?? 0) + ($0.after?.count ?? 0) } ?? 0 }

    /// Appends the row of a commit that uses up its number without a change.
    mutating func refuse(_ commit: PreparedCommit, _ outcome: ShardBatch.RefusalRow.Outcome) {
        self.batch.refusals.append(ShardBatch.RefusalRow(key: commit.key, hash: commit.hash, outcome: outcome))
    }
}

/// An element in a batch: its state after the commits so far, and its row.
struct DraftElement: Sendable {
    var state: ElementState
    /// The index of its row in the batch; nil when it is not written.
    private var row: Int?

    init(state: ElementState) { self.state = state }

    /// Sets the state; the first change reserves the row `next`. Returns the row's index.
    mutating func write(_ state: ElementState, next: Int) -> Int {
        self.state = state
        let row = self.row ?? next
        self.row = row
        return row
    }
}
