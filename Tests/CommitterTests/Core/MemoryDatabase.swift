import Canvas
import Testing
import Wire

@testable import CommitterCore

/// A model of the tables: one shard's worth of rows, and the compare-and-set that guards them. A write that breaks what holds
/// of the real tables is an issue.
struct MemoryDatabase {
    enum Written: Equatable {
        case written
        case stale
        case refusedData
    }

    struct StoredElement: Equatable {
        var element: Element
        var seq: UInt64
        var isDeleted: Bool
        var authors: RecentAuthors
    }

    var version: UInt64 = 0
    var gseq: UInt64 = 0
    var chain: UInt64 = 0
    var sessionFloor: Identifier = ""
    var rooms: [Identifier: UInt64] = [:]
    var streams: [StreamKey: StreamState] = [:]
    var elements: [ElementKey: StoredElement] = [:]
    var log: [ShardBatch.LogRow] = []
    var stacks: [UserKey: UndoStacks] = [:]
    var refusals: [CommitKey: StoredOutcome] = [:]

    /// Elements of this type are refused, as a value is that PostgreSQL does not take.
    static let poison = "poison"

    func load(_ request: LoadRequest) -> LoadedState {
        var state = LoadedState(version: self.version, gseq: self.gseq, chain: self.chain)
        state.sessionFloor = self.sessionFloor
        for room in request.rooms {
            state.rooms[room] = self.rooms[room].map { StoredRoom(seq: $0, totals: self.totals(of: room)) }
        }
        for key in request.annotations { state.annotations[key] = self.annotations(of: key) }
        for need in request.streams { state.streams[need.key] = self.streams[need.key] }
        for need in request.elements {
            if let stored = self.elements[need.key] { state.elements.append(self.row(need.key, stored)) }
            guard need.family else { continue }
            for (key, stored) in self.elements.sorted(by: { $0.key.element < $1.key.element })
            where key.room == need.key.room && !stored.isDeleted
                && stored.element.parentId.map({ Identifier($0) }) == need.key.element
            {
                state.elements.append(self.row(key, stored))
            }
        }
        for key in request.outcomes {
            if let row = self.log.first(where: { CommitKey(StreamKey($0.room, $0.session), $0.number) == key }) {
                let applied = AppliedOutcome(
                    seq: row.seq, event: row.event, before: row.before ?? [], after: row.after ?? [],
                    undone: row.undone, adjusted: row.adjusted)
                state.outcomes[key] = applied.map { StoredOutcome(.applied($0), hash: row.hash) }
            } else {
                state.outcomes[key] = self.refusals[key]
            }
        }
        for key in request.users { state.users[key] = self.stacks[key] }
        for need in request.entries { self.load(need, &state) }
        return state
    }

    /// What a room holds, counted.
    func totals(of room: Identifier) -> RoomTotals {
        self.elements.reduce(RoomTotals()) { totals, stored in
            if stored.key.room != room || stored.value.isDeleted { return totals }
            return totals + RoomTotals(elements: 1, bytes: stored.value.element.storedBytes)
        }
    }

    private func annotations(of parent: ElementKey) -> Int {
        self.elements.count { key, stored in
            key.room == parent.room && !stored.isDeleted
                && stored.element.parentId.map { Identifier($0) } == parent.element
        }
    }

    /// The entry, and those below it as far as they are to be read ahead.
    private func load(_ need: UndoEntryNeed, _ state: inout LoadedState) {
        var (next, head, count) = (need.key.head, need.key.head, 0 as UInt64)
        while let row = self.log.first(where: { $0.room == need.key.room && $0.seq == next }), let link = row.link {
            state.entries[UndoEntryKey(need.key.room, head), default: []].append(
                UndoRow(
                    seq: row.seq, event: row.event, before: row.before ?? [], after: row.after ?? [], next: link.next))
            count += 1
            if link.rest == 0, count >= need.ahead { return }
            next = link.next
            if link.rest == 0 { head = next }
        }
    }

    private func row(_ key: ElementKey, _ stored: StoredElement) -> LoadedState.ElementRow {
        let live = LiveElement(stored.element, children: nil, authors: stored.authors)
        return LoadedState.ElementRow(key: key, state: stored.isDeleted ? .deleted(stored.authors) : .live(live))
    }

    mutating func write(_ batch: ShardBatch) -> Written {
        guard batch.version == self.version, batch.base == self.chain else { return .stale }
        for row in batch.streams.rows
        where self.streams[row.key].map({ $0.sessionEpoch != row.value.sessionEpoch }) ?? false {
            return .stale
        }
        if batch.elements.contains(where: { $0.live.element.type == Self.poison }) { return .refusedData }
        self.version += 1
        for row in batch.log { self.append(row) }
        if self.chain != batch.chain { Issue.record("the shard's chain is not the log's") }
        if self.gseq != batch.gseq { Issue.record("the shard's last number is not the log's") }
        for row in batch.rooms.rows where self.rooms[row.key] != row.value.seq {
            Issue.record("a room's last number is not the log's")
        }
        for row in batch.elements {
            let key = ElementKey(row.room, Identifier(row.live.element.id))
            if let old = self.elements[key], (old.isDeleted && !row.isRestored) || old.seq >= row.seq {
                Issue.record("an element went back")
            }
            self.elements[key] = StoredElement(
                element: row.live.element, seq: row.seq, isDeleted: row.isDeleted,
                authors: RecentAuthors(
                    last: ChangeMark(user: Identifier(row.live.element.updatedBy), seq: row.seq),
                    other: row.live.authors.other))
        }
        for row in batch.rooms.rows where self.totals(of: row.key) != row.value.totals {
            Issue.record("a room's totals are not those of its elements")
        }
        for row in batch.streams.rows {
            if let old = self.streams[row.key], old.highest >= row.value.highest || old.user != row.value.user {
                Issue.record("a stream went back")
            }
            self.streams[row.key] = row.value
        }
        for row in batch.stacks.rows {
            if row.value == self.stacks[row.key] ?? UndoStacks() { Issue.record("stacks did not change") }
            self.stacks[row.key] = row.value
        }
        for row in batch.refusals { self.refusals[row.key] = StoredOutcome(.unapplied(row.outcome), hash: row.hash) }
        return .written
    }

    private mutating func append(_ row: ShardBatch.LogRow) {
        if row.gseq != self.gseq + 1 { Issue.record("a gap in the shard's order") }
        if row.seq != (self.rooms[row.room] ?? 0) + 1 { Issue.record("a gap in a room's order") }
        if self.log.contains(where: { $0.room == row.room && $0.session == row.session && $0.number == row.number }) {
            Issue.record("a commit was applied twice")
        }
        let link = HistoryChain.link(
            gseq: row.gseq, room: row.room, seq: row.seq, session: row.session, number: row.number, body: row.hash)
        if !HistoryChain.continues(self.chain, link: link, chain: row.chain) {
            Issue.record("a row does not continue the chain")
        }
        self.chain = row.chain
        self.gseq = row.gseq
        self.rooms[row.room] = row.seq
        self.log.append(row)
    }

    /// What `claim_session` does; it does not touch the shard.
    mutating func claim(_ key: StreamKey, user: Identifier) -> UInt32 {
        if var state = self.streams[key] {
            state.sessionEpoch += 1
            self.streams[key] = state
            return state.sessionEpoch
        }
        self.streams[key] = StreamState(user: user, highest: 0, sessionEpoch: 2)
        return 2
    }
}
