import Canvas
import CommitterCore
import FanoutCore
import HistoryChecker
import Wire

/// The tables and what the functions on them do, each call one transaction. What the real functions only promise under
/// a lock holds here because nothing else happens meanwhile.
struct DatabaseModel {
    struct StoredElement {
        var live: LiveElement
        var seq: UInt64
        var isDeleted: Bool
    }

    private struct ShardRow {
        var version: UInt64 = 0
        var gseq: UInt64 = 0
        var chain: UInt64 = 0
    }

    /// Names the database's history.
    var epoch: Identifier = "epoch-1"
    private var shards = [ShardRow](repeating: ShardRow(), count: Shard.count)
    private var rooms: [Identifier: StoredRoom] = [:]
    private var streams: [StreamKey: StreamState] = [:]
    private var elements: [Identifier: [Identifier: StoredElement]] = [:]
    private var stacks: [UserKey: UndoStacks] = [:]
    private var refusals: [CommitKey: StoredOutcome] = [:]
    /// The log by room and by shard, and where each commit is in its room's.
    private var roomLog: [Identifier: [ShardBatch.LogRow]] = [:]
    private var shardLog: [Int: [ShardBatch.LogRow]] = [:]
    private var applied: [CommitKey: Int] = [:]
    /// Sessions that have ended: nobody commits in them or claims them any more.
    private var ended: Set<StreamKey> = []

    /// The log of a room.
    func log(of room: Identifier) -> [ShardBatch.LogRow] { self.roomLog[room] ?? [] }

    /// A user's session in a room ends, as those do that are idle for long.
    mutating func endSession(_ sid: Identifier, in room: Identifier) {
        self.ended.insert(StreamKey(room, SessionKey.app(sid: sid)))
    }

    func seq(of room: Identifier) -> UInt64 { self.rooms[room]?.seq ?? 0 }

    // MARK: commit_batch

    /// Writes a batch; false when it was decided from another state, and nothing is written.
    mutating func write(_ batch: ShardBatch, mutant: Mutant?) -> Bool {
        if mutant != .blindWrites {
            let shard = self.shards[batch.shard]
            guard batch.version == shard.version, batch.base == shard.chain else { return false }
            let isTaken = batch.streams.rows.contains { row in
                self.ended.contains(row.key)
                    || self.streams[row.key].map {
                        $0.sessionEpoch != row.value.sessionEpoch || $0.user != row.value.user
                    } ?? false
            }
            if isTaken { return false }
        }
        self.shards[batch.shard].version += 1
        self.shards[batch.shard].gseq = batch.gseq
        self.shards[batch.shard].chain = batch.chain
        for row in batch.rooms.rows { self.rooms[row.key] = row.value }
        for row in batch.elements { self.store(row) }
        for row in batch.log {
            self.applied[CommitKey(StreamKey(row.room, row.session), row.number)] = self.roomLog[row.room]?.count ?? 0
            self.roomLog[row.room, default: []].append(row)
            self.shardLog[batch.shard, default: []].append(row)
        }
        for row in batch.streams.rows { self.streams[row.key] = row.value }
        for row in batch.stacks.rows { self.stacks[row.key] = row.value }
        for row in batch.refusals { self.refusals[row.key] = StoredOutcome(.unapplied(row.outcome), hash: row.hash) }
        return true
    }

    private mutating func store(_ row: ShardBatch.ElementRow) {
        let (element, last) = (row.live.element, ChangeMark(user: Identifier(row.live.element.updatedBy), seq: row.seq))
        let live = LiveElement(
            element: element, json: row.live.json, children: nil,
            authors: RecentAuthors(last: last, other: row.live.authors.other))
        self.elements[row.room, default: [:]][Identifier(element.id)] = StoredElement(
            live: live, seq: row.seq, isDeleted: row.isDeleted)
    }

    // MARK: load_shard_state

    func load(_ request: LoadRequest, mutant: Mutant?) -> LoadedState {
        let shard = self.shards[request.shard]
        var state = LoadedState(version: shard.version, gseq: shard.gseq, chain: shard.chain)
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
        for need in request.elements where need.family && mutant != .cascadeOff {
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
        for key in request.users { state.users[key] = self.stacks(of: key, mutant: mutant) }
        for need in request.entries { self.load(need, &state) }
        return state
    }

    private func stacks(of user: UserKey, mutant: Mutant?) -> UndoStacks? {
        if mutant != .foreignStacks { return self.stacks[user] }
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

    mutating func answer(_ query: DatabaseRequest.Query) -> DatabaseReply {
        switch query {
        case .heads: .heads(ShardHeads(epoch: self.epoch, marks: self.shards.map { .init($0.gseq, chain: $0.chain) }))
        case .room(let room): .room(self.snapshot(of: room))
        case .roomLog(let room, let after, let limit): .log(Self.page(self.roomLog[room], limit) { $0.seq > after })
        case .shardLog(let shard, let after, let limit):
            .log(Self.page(self.shardLog[shard], limit) { $0.gseq > after })
        case .history: .failed
        case .moveEpoch(let old): .epoch(self.moveEpoch(from: old))
        case .claim(let room, let sid, let user): .claim(self.claim(StreamKey(room, sid), user: user))
        }
    }

    private func snapshot(of room: Identifier) -> RoomSnapshot {
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

    private static func page(
        _ log: [ShardBatch.LogRow]?, _ limit: Int, where isWanted: (ShardBatch.LogRow) -> Bool
    ) -> [Update] {
        (log ?? []).lazy.filter(isWanted).prefix(limit).map(\.update)
    }

    private mutating func claim(_ key: StreamKey, user: Identifier) -> ClaimOutcome {
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

    // MARK: The end

    /// Rooms whose totals are not those of their elements.
    var miscounts: [String] {
        self.rooms.filter { room, state in
            let living = (self.elements[room] ?? [:]).values.filter { !$0.isDeleted }
            let bytes = living.reduce(0) { $0 + $1.live.element.storedBytes }
            return state.totals != RoomTotals(elements: living.count, bytes: bytes)
        }.keys.sorted().map { "the totals of \($0) are wrong" }
    }

    /// All that the checker wants to know of it.
    func dump() -> [HistoryRecord] {
        var records: [HistoryRecord] = []
        for (_, rows) in self.roomLog.sorted(by: { $0.key < $1.key }) { records += rows.map(\.record) }
        for (room, state) in self.rooms.sorted(by: { $0.key < $1.key }) {
            var record = HistoryRecord(.room)
            (record.room, record.seq) = (room.text, state.seq)
            records.append(record)
        }
        for (shard, row) in self.shards.enumerated() where row.gseq > 0 {
            var record = HistoryRecord(.shard)
            (record.shard, record.gseq) = (shard, row.gseq)
            records.append(record)
        }
        for (room, elements) in self.elements.sorted(by: { $0.key < $1.key }) {
            for (id, stored) in elements.sorted(by: { $0.key < $1.key }) where !stored.isDeleted {
                var record = HistoryRecord(.element)
                (record.room, record.element) = (room.text, id.text)
                record.body = String(decoding: stored.live.json, as: UTF8.self)
                record.parent = stored.live.element.parentId ?? ""
                record.show(stored: AppText(stored.live.json).root)
                records.append(record)
            }
        }
        return records
    }
}
