import Canvas
import Wire

/// A ledger's cached state of its shard. All of it belongs to one version of the shard and is invalid at any other.
struct ShardCache: Sendable {
    /// The version of the shard; nil: nothing is cached.
    private(set) var version: UInt64?
    private(set) var gseq: UInt64 = 0
    private(set) var chain: UInt64 = 0
    /// Sessions whose name sorts before it and that have no row have ended.
    private(set) var sessionFloor: Identifier = ""
    var rooms: RecentCache<Identifier, StoredRoom>
    /// Also those that do not exist.
    var streams: RecentCache<StreamKey, KnownStream>
    /// Also those that do not exist.
    var elements: RecentCache<ElementKey, ElementState>
    /// The numbers of living annotations of elements.
    var annotations: RecentCache<ElementKey, KnownCount>
    /// What users can undo and redo.
    var stacks: RecentCache<UserKey, UndoStacks>
    /// Read for undos in the current batch, then discarded.
    private var entries: [UndoEntryKey: [UndoRow]] = [:]
    /// Read for repetitions in the current batch, then discarded; nil where none is kept.
    private var outcomes: [CommitKey: StoredOutcome?] = [:]

    init(limit: Int) {
        self.rooms = RecentCache(limit: limit / 8)
        self.streams = RecentCache(limit: limit / 8)
        self.stacks = RecentCache(limit: limit / 8)
        self.annotations = RecentCache(limit: limit / 16)
        self.elements = RecentCache(limit: limit / 16 * 9)
    }

    // MARK: Reading

    /// The rows of an entry, the newest first; none when the log no longer has them, nil when they were not read.
    func undoRows(_ key: UndoEntryKey) -> [UndoRow]? { self.entries[key] }

    /// An entry is not looked at again: the memory of those that an undo passes over is not that of all of them.
    mutating func dropUndoRows(_ key: UndoEntryKey) { self.entries[key] = nil }

    /// The stored outcome of a commit; nil when it was not read, or is not kept.
    func outcome(_ key: CommitKey) -> StoredOutcome? { self.outcomes[key] ?? nil }

    func knowsOutcome(of key: CommitKey) -> Bool { self.outcomes[key] != nil }

    // MARK: Changing

    /// Adds an answer of the database. An answer at another version than the cached one replaces everything.
    mutating func merge(_ state: LoadedState, for request: LoadRequest) {
        if self.version != state.version || self.chain != state.chain { self.clear() }
        self.version = state.version
        self.gseq = state.gseq
        self.chain = state.chain
        self.sessionFloor = state.sessionFloor
        for room in request.rooms { self.rooms.store(state.rooms[room] ?? StoredRoom(), for: room) }
        for key in request.annotations { self.annotations.store(KnownCount(state.annotations[key] ?? 0), for: key) }
        for need in request.streams {
            let known = KnownStream(state: state.streams[need.key], isEvicted: state.evicted.contains(need.key))
            self.streams.store(known, for: need.key)
        }
        for key in request.users { self.stacks.store(state.users[key] ?? UndoStacks(), for: key) }
        for need in request.entries { self.entries[need.key] = [] }
        self.entries.merge(state.entries) { $1 }
        for key in request.outcomes { self.outcomes.updateValue(state.outcomes[key], forKey: key) }
        self.mergeElements(state, for: request)
    }

    private mutating func mergeElements(_ state: LoadedState, for request: LoadRequest) {
        var children: [ElementKey: [Identifier]] = [:]
        for need in request.elements {
            self.elements.store(.absent, for: need.key)
            if need.family { children[need.key] = [] }
        }
        for row in state.elements {
            guard case .live(let live) = row.state, let parent = live.element.parentId else { continue }
            children[ElementKey(row.key.room, Identifier(parent))]?.append(row.key.element)
        }
        for row in state.elements {
            guard case .live(let live) = row.state else {
                self.elements.store(row.state, for: row.key)
                continue
            }
            // Its children may be cached already, when the row is part of another element's family.
            var known = children[row.key]
            if known == nil, case .live(let live)? = self.elements.use(row.key) { known = live.children }
            self.elements.store(.live(known.map(live.with(children:)) ?? live), for: row.key)
        }
    }

    mutating func commit(_ draft: BatchDraft) {
        self.version = draft.batch.version + 1
        self.gseq = draft.batch.gseq
        self.chain = draft.batch.chain
        for row in draft.batch.rooms.rows { self.rooms.store(row.value, for: row.key) }
        for row in draft.batch.streams.rows { self.streams.store(KnownStream(state: row.value), for: row.key) }
        for (key, element) in draft.rows.elements { self.elements.store(element.state, for: key) }
        for (key, count) in draft.annotations { self.annotations.store(KnownCount(count), for: key) }
        for row in draft.batch.stacks.rows { self.stacks.store(row.value, for: row.key) }
    }

    /// Ends a batch: discards what was read only for it, and evicts what was not used recently.
    mutating func trim() {
        self.outcomes.removeAll(keepingCapacity: true)
        self.entries = [:]
        self.rooms.trim()
        self.stacks.trim()
        self.streams.trim()
        self.elements.trim()
        self.annotations.trim()
    }

    mutating func clear() {
        self.version = nil
        self.rooms.clear()
        self.streams.clear()
        self.elements.clear()
        self.annotations.clear()
        self.stacks.clear()
        self.entries = [:]
        self.outcomes.removeAll(keepingCapacity: true)
    }
}

extension StoredRoom: Weighed {
    var weight: Int { 112 }
}

struct KnownCount: Weighed {
    let count: Int

    init(_ count: Int) { self.count = count }

    var weight: Int { 160 }
}

/// A stream, or the fact that it does not exist.
struct KnownStream: Weighed {
    var state: StreamState?
    var isEvicted = false
    var weight: Int { 192 }
}

extension UndoStacks: Weighed {
    var weight: Int { 256 }
}

extension ElementState: Weighed {
    /// The element's texts are about as large as its JSON, which is stored next to them.
    var weight: Int {
        switch self {
        case .absent: 128
        case .deleted: 192
        case .live(let live): 576 + 2 * live.json.count + 48 * (live.children?.count ?? 0)
        }
    }
}
