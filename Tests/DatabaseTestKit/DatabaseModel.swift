package import Canvas
package import CommitterCore
package import FanoutCore
package import Wire

/// The tables and what the functions on them do, each call one transaction. What the real functions only promise under
/// a lock holds here because nothing else happens meanwhile. A write that breaks what holds of the real tables is a fault.
package struct DatabaseModel {
    package struct StoredElement: Equatable {
        package var live: LiveElement
        package var seq: UInt64
        package var isDeleted: Bool

        package var element: Element { self.live.element }
    }

    package enum Written: Equatable {
        case written
        /// The batch was decided on another state.
        case stale
        /// PostgreSQL does not take a value.
        case refusedData
    }

    /// What is wrong with a database on purpose.
    package enum Mistake {
        /// It writes whatever a batch was decided on.
        case blindWrites
        /// It reads an element without its annotations.
        case cascadeOff
        /// It reads the stacks of somebody else.
        case foreignStacks
    }

    package struct ShardRow: Equatable {
        package var version: UInt64 = 0
        package var gseq: UInt64 = 0
        package var chain: UInt64 = 0
    }

    /// Elements of this type are refused, as a value is that PostgreSQL does not take.
    package static let poison = "poison"

    /// Names the database's history.
    package var epoch: Identifier = "epoch-1"
    /// Sessions that began before this one have ended.
    package var sessionFloor: Identifier = ""
    package private(set) var shards = [ShardRow](repeating: ShardRow(), count: Shard.count)
    package private(set) var rooms: [Identifier: StoredRoom] = [:]
    package var streams: [StreamKey: StreamState] = [:]
    private var elements: [Identifier: [Identifier: StoredElement]] = [:]
    private var stacks: [UserKey: UndoStacks] = [:]
    package var refusals: [CommitKey: StoredOutcome] = [:]
    /// The log by room and by shard, and where each commit is in its room's.
    private var roomLog: [Identifier: [ShardBatch.LogRow]] = [:]
    private var shardLog: [Int: [ShardBatch.LogRow]] = [:]
    private var applied: [CommitKey: Int] = [:]
    /// Sessions that have ended: nobody commits in them or claims them any more.
    private var ended: Set<StreamKey> = []
    /// What was written and must not have been.
    package private(set) var faults: [String] = []

    package init() {}

    /// The log of a room.
    package func log(of room: Identifier) -> [ShardBatch.LogRow] { self.roomLog[room] ?? [] }

    /// The elements of a room, also those that are deleted.
    package func elements(of room: Identifier) -> [Identifier: StoredElement] { self.elements[room] ?? [:] }

    package subscript(element: ElementKey) -> StoredElement? { self.elements[element.room]?[element.element] }

    /// What a room holds, counted.
    package func totals(of room: Identifier) -> RoomTotals {
        let living = self.elements(of: room).values.filter { !$0.isDeleted }
        return RoomTotals(elements: living.count, bytes: living.reduce(0) { $0 + $1.element.storedBytes })
    }

    /// Removes an update from the log.
    package mutating func forget(_ seq: UInt64, in room: Identifier) {
        self.roomLog[room]?.removeAll { $0.seq == seq }
        self.shardLog[Shard.of(room: room)]?.removeAll { $0.room == room && $0.seq == seq }
        self.applied = self.applied.filter { $0.key.stream.room != room }
        for (place, row) in self.log(of: room).enumerated() { self.applied[Self.key(of: row)] = place }
    }

    private static func key(of row: ShardBatch.LogRow) -> CommitKey {
        CommitKey(StreamKey(row.room, row.session), row.number)
    }

    /// A user's session in a room ends, as those do that are idle for long.
    package mutating func endSession(_ sid: Identifier, in room: Identifier) {
        self.ended.insert(StreamKey(room, SessionKey.app(sid: sid)))
    }

    package func seq(of room: Identifier) -> UInt64 { self.rooms[room]?.seq ?? 0 }

    // MARK: commit_batch

    package mutating func write(_ batch: ShardBatch, _ mistake: Mistake? = nil) -> Written {
        if mistake != .blindWrites, self.isStale(batch) { return .stale }
        if batch.elements.contains(where: { $0.live.element.type == Self.poison }) { return .refusedData }
        for row in batch.log { self.append(row, in: batch.shard) }
        self.require(self.shards[batch.shard].chain == batch.chain, "the shard's chain is not the log's")
        self.require(self.shards[batch.shard].gseq == batch.gseq, "the shard's last number is not the log's")
        let row = ShardRow(version: self.shards[batch.shard].version + 1, gseq: batch.gseq, chain: batch.chain)
        self.shards[batch.shard] = row
        for row in batch.elements { self.store(row) }
        for row in batch.rooms.rows {
            let seq = self.roomLog[row.key]?.last?.seq ?? 0
            self.require(row.value.seq == seq, "a room's last number is not the log's")
            self.require(self.totals(of: row.key) == row.value.totals, "a room's totals are not those of its elements")
            self.rooms[row.key] = row.value
        }
        for row in batch.streams.rows {
            if let old = self.streams[row.key] {
                self.require(old.highest < row.value.highest && old.user == row.value.user, "a stream went back")
            }
            self.streams[row.key] = row.value
        }
        for row in batch.stacks.rows {
            self.require(row.value != self.stacks[row.key] ?? UndoStacks(), "stacks did not change")
            self.stacks[row.key] = row.value
        }
        for row in batch.refusals { self.refusals[row.key] = StoredOutcome(.unapplied(row.outcome), hash: row.hash) }
        return .written
    }

    private func isStale(_ batch: ShardBatch) -> Bool {
        let shard = self.shards[batch.shard]
        guard batch.version == shard.version, batch.base == shard.chain else { return true }
        return batch.streams.rows.contains { row in
            let stream = self.streams[row.key]
            let isTaken = stream.map { $0.sessionEpoch != row.value.sessionEpoch || $0.user != row.value.user }
            return isTaken == true || self.ended.contains(row.key)
        }
    }

    private mutating func append(_ row: ShardBatch.LogRow, in shard: Int) {
        let (key, last) = (Self.key(of: row), self.shards[shard])
        self.require(row.gseq == last.gseq + 1, "a gap in the shard's order")
        self.require(row.seq == (self.roomLog[row.room]?.last?.seq ?? 0) + 1, "a gap in a room's order")
        self.require(self.applied[key] == nil, "a commit was applied twice")
        let link = HistoryChain.link(
            gseq: row.gseq, room: row.room, seq: row.seq, session: row.session, number: row.number, body: row.hash)
        self.require(
            HistoryChain.continues(last.chain, link: link, chain: row.chain), "a row does not continue the chain")
        (self.shards[shard].gseq, self.shards[shard].chain) = (row.gseq, row.chain)
        self.applied[key] = self.roomLog[row.room]?.count ?? 0
        self.roomLog[row.room, default: []].append(row)
        self.shardLog[shard, default: []].append(row)
    }

    private mutating func require(_ isSound: Bool, _ fault: String) {
        if !isSound { self.faults.append(fault) }
    }

    private mutating func store(_ row: ShardBatch.ElementRow) {
        let (element, last) = (row.live.element, ChangeMark(user: Identifier(row.live.element.updatedBy), seq: row.seq))
        let live = LiveElement(
            element: element, json: row.live.json, children: nil,
            authors: RecentAuthors(last: last, other: row.live.authors.other))
        let id = Identifier(element.id)
        if let old = self.elements[row.room]?[id] {
            self.require((!old.isDeleted || row.isRestored) && old.seq < row.seq, "an element went back")
        }
        self.elements[row.room, default: [:]][id] = StoredElement(live: live, seq: row.seq, isDeleted: row.isDeleted)
    }

    // MARK: load_shard_state

    package func load(_ request: LoadRequest, _ mistake: Mistake? = nil) -> LoadedState {
        let shard = self.shards[request.shard]
        var state = LoadedState(version: shard.version, gseq: shard.gseq, chain: shard.chain)
        state.sessionFloor = self.sessionFloor
        for room in request.rooms { state.rooms[room] = self.rooms[room] }
        for need in request.streams {
            if self.ended.contains(need.key) { state.evicted.insert(need.key) }
            state.streams[need.key] = self.ended.contains(need.key) ? nil : self.streams[need.key]
        }
        for need in request.elements {
            guard let stored = self.elements[need.key.room]?[need.key.element] else { continue }
            let element = stored.isDeleted ? ElementState.deleted(stored.live.authors) : .live(stored.live)
            state.elements.append(LoadedState.ElementRow(key: need.key, state: element))
        }
        for key in request.annotations { state.annotations[key] = self.living(annotationsOf: key).count }
        for need in request.elements where need.family && mistake != .cascadeOff {
            self.load(childrenOf: need.key, &state)
        }
        for key in request.outcomes {
            if let place = self.applied[key], let row = self.roomLog[key.stream.room]?[place] {
                let applied = AppliedOutcome(
                    seq: row.seq, event: row.event, before: row.before ?? [], after: row.after ?? [],
                    undone: row.undone, adjusted: row.adjusted)
                state.outcomes[key] = applied.map { StoredOutcome(.applied($0), hash: row.hash) }
            } else {
                state.outcomes[key] = self.refusals[key]
            }
        }
        for key in request.users { state.users[key] = self.stacks(of: key, mistake) }
        for need in request.entries { self.load(need, &state) }
        return state
    }

    private func stacks(of user: UserKey, _ mistake: Mistake?) -> UndoStacks? {
        if mistake != .foreignStacks { return self.stacks[user] }
        return self.stacks.filter { $0.key.room == user.room }.values.max { $0.undo.head < $1.undo.head }
    }

    /// The entry, and those below it as far as they are to be read ahead.
    private func load(_ need: UndoEntryNeed, _ state: inout LoadedState) {
        var (next, head, count) = (need.key.head, need.key.head, 0 as UInt64)
        while let row = self.roomLog[need.key.room]?.first(where: { $0.seq == next }), let link = row.link {
            state.entries[UndoEntryKey(need.key.room, head), default: []].append(
                UndoRow(
                    seq: row.seq, event: row.event, before: row.before ?? [], after: row.after ?? [], next: link.next))
            count += 1
            if link.rest == 0, count >= need.ahead { return }
            next = link.next
            if link.rest == 0 { head = next }
        }
    }

    private func living(annotationsOf parent: ElementKey) -> [Identifier: StoredElement] {
        (self.elements[parent.room] ?? [:]).filter {
            !$0.value.isDeleted && $0.value.live.element.parentId == parent.element.text
        }
    }

    private func load(childrenOf parent: ElementKey, _ state: inout LoadedState) {
        for (id, stored) in self.living(annotationsOf: parent).sorted(by: { $0.key < $1.key }) {
            state.elements.append(
                LoadedState.ElementRow(key: ElementKey(parent.room, id), state: .live(stored.live)))
        }
    }

    // MARK: What fan-outs ask

    package mutating func answer(_ query: DatabaseRequest.Query) -> DatabaseReply {
        switch query {
        case .heads: .heads(ShardHeads(epoch: self.epoch, marks: self.shards.map { .init($0.gseq, chain: $0.chain) }))
        case .room(let room): .room(self.snapshot(of: room))
        case .roomLog(let room, let after, let limit): .log(Self.page(self.roomLog[room], limit) { $0.seq > after })
        case .shardLog(let shard, let after, let limit):
            .log(Self.page(self.shardLog[shard], limit) { $0.gseq > after })
        case .history(let room, let after, let limit): .history(self.history(of: room, after: after, limit: limit))
        case .moveEpoch(let old): .epoch(self.moveEpoch(from: old))
        case .claim(let room, let sid, let user): .claim(self.claim(StreamKey(room, sid), user: user))
        }
    }

    package func snapshot(of room: Identifier) -> RoomSnapshot {
        let shard = self.shards[Shard.of(room: room)]
        var snapshot = RoomSnapshot(seq: self.seq(of: room), gseq: shard.gseq, chain: shard.chain, elements: [])
        let stored = (self.elements[room] ?? [:]).filter { !$0.value.isDeleted }.sorted { $0.key < $1.key }
        snapshot.elements = stored.map { id, stored in
            RoomSnapshot.Element(id: id, json: stored.live.json, seq: stored.seq)
        }
        var closed: [String: RoomSnapshot.ClosedGesture] = [:]
        for row in self.roomLog[room] ?? [] {
            for ended in row.gestures {
                let key = "\(ended.element) \(row.session)"
                let gesture = max(closed[key]?.gesture ?? 0, ended.gesture)
                closed[key] = RoomSnapshot.ClosedGesture(
                    element: ended.element, sid: SessionKey.sid(of: row.session), gesture: gesture)
            }
        }
        snapshot.closed = closed.sorted { $0.key < $1.key }.map(\.value)
        return snapshot
    }

    package func history(of room: Identifier, after seq: UInt64, limit: Int) -> RoomHistory {
        let rows = self.log(of: room)
        let entries = rows.lazy.filter { $0.seq > seq }.prefix(limit).map(\.entry)
        return RoomHistory(last: self.seq(of: room), oldest: rows.first?.seq, entries: Array(entries))
    }

    private static func page(
        _ log: [ShardBatch.LogRow]?, _ limit: Int, where isWanted: (ShardBatch.LogRow) -> Bool
    ) -> [Update] {
        (log ?? []).lazy.filter(isWanted).prefix(limit).map(\.update)
    }

    package mutating func claim(_ key: StreamKey, user: Identifier) -> ClaimOutcome {
        if self.ended.contains(key) { return .refused }
        guard var stream = self.streams[key] else {
            self.streams[key] = StreamState(user: user, highest: 0, sessionEpoch: 2)
            return .granted(sessionEpoch: 2, number: 0)
        }
        guard stream.user == user else { return .refused }
        stream.sessionEpoch += 1
        self.streams[key] = stream
        return .granted(sessionEpoch: stream.sessionEpoch, number: stream.highest)
    }

    /// Another name for the history, unless somebody gave it one before.
    private mutating func moveEpoch(from old: Identifier) -> Identifier {
        if self.epoch == old { self.epoch = Identifier(old.text + "+") }
        return self.epoch
    }
}
