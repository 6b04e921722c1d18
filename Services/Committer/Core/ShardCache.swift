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
    private var rooms: RecentCache<Identifier, KnownRoom>
    private var streams: RecentCache<StreamKey, KnownStream>
    private var elements: RecentCache<ElementKey, ElementState>
    private var annotations: RecentCache<ElementKey, KnownCount>
    private var users: RecentCache<UserKey, UndoStacks>
    /// Read for undos in the current batch, then discarded.
    private var entries: [UndoEntryKey: [UndoRow]] = [:]
    /// Read for repetitions in the current batch, then discarded.
    private var outcomes: [CommitKey: StoredOutcome] = [:]

    init(limit: Int) {
        self.rooms = RecentCache(limit: limit / 8)
        self.streams = RecentCache(limit: limit / 8)
        self.users = RecentCache(limit: limit / 8)
        self.annotations = RecentCache(limit: limit / 16)
        self.elements = RecentCache(limit: limit / 16 * 9)
    }

    // MARK: Reading

    mutating func room(_ room: Identifier) -> StoredRoom? { self.rooms.use(room)?.state }

    /// A stream; `.some(nil)` when it does not exist, nil when unknown.
    mutating func stream(_ key: StreamKey) -> StreamState?? {
        guard let known = self.streams.use(key) else { return nil }
        return .some(known.state)
    }

    /// True when a stream does not exist because its session was evicted.
    mutating func isEvicted(_ key: StreamKey) -> Bool { self.streams.use(key)?.isEvicted ?? false }

    mutating func element(_ key: ElementKey) -> ElementState? { self.elements.use(key) }

    /// The number of living annotations of an element; nil when unknown.
    mutating func annotations(of key: ElementKey) -> Int? { self.annotations.use(key)?.count }

    mutating func knowsAnnotations(of key: ElementKey) -> Bool { self.annotations.knows(key) }

    mutating func knows(_ room: Identifier) -> Bool { self.rooms.knows(room) }

    /// True when the element's state is known, even if it does not exist.
    mutating func knows(_ key: ElementKey) -> Bool { self.elements.knows(key) }

    mutating func stacks(_ key: UserKey) -> UndoStacks? { self.users.use(key) }

    mutating func knowsStacks(of key: UserKey) -> Bool { self.users.knows(key) }

    /// The rows of an entry, the newest first; none when the log no longer has them, nil when they were not read.
    func undoRows(_ key: UndoEntryKey) -> [UndoRow]? { self.entries[key] }

    /// An entry is not looked at again: the memory of those that an undo passes over is not that of all of them.
    mutating func dropUndoRows(_ key: UndoEntryKey) { self.entries[key] = nil }

    /// The stored outcome of a commit; nil when it was not read.
    func outcome(_ key: CommitKey) -> StoredOutcome? { self.outcomes[key] }

    // MARK: Changing

    /// Adds an answer of the database. An answer at another version than the cached one replaces everything.
    mutating func merge(_ state: LoadedState, for request: LoadRequest) {
        if self.version != state.version || self.chain != state.chain { self.clear() }
        self.version = state.version
        self.gseq = state.gseq
        self.chain = state.chain
        self.sessionFloor = state.sessionFloor
        for room in request.rooms { self.rooms.store(KnownRoom(state: state.rooms[room] ?? StoredRoom()), for: room) }
        for key in request.annotations { self.annotations.store(KnownCount(state.annotations[key] ?? 0), for: key) }
        for need in request.streams {
            let known = KnownStream(state: state.streams[need.key], isEvicted: state.evicted.contains(need.key))
            self.streams.store(known, for: need.key)
        }
        for key in request.users { self.users.store(state.users[key] ?? UndoStacks(), for: key) }
        for need in request.entries { self.entries[need.key] = [] }
        self.entries.merge(state.entries) { $1 }
        for key in request.outcomes { self.outcomes[key] = state.outcomes[key] ?? .forgotten }
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
        for row in draft.batch.rooms { self.rooms.store(KnownRoom(state: row.state), for: row.room) }
        for row in draft.batch.streams { self.streams.store(KnownStream(state: row.state), for: row.key) }
        for (key, element) in draft.rows.elements { self.elements.store(element.state, for: key) }
        for (key, count) in draft.annotations { self.annotations.store(KnownCount(count), for: key) }
        for row in draft.batch.stacks { self.users.store(row.stacks, for: row.key) }
    }

    /// The element is known to have no annotations.
    mutating func noteChildless(_ live: LiveElement, _ key: ElementKey) {
        self.elements.store(.live(live.with(children: [])), for: key)
    }

    /// Ends a batch: discards what was read only for it, and evicts what was not used recently.
    mutating func trim() {
        self.outcomes.removeAll(keepingCapacity: true)
        self.entries = [:]
        self.rooms.trim()
        self.users.trim()
        self.streams.trim()
        self.elements.trim()
        self.annotations.trim()
    }

    /// Removes a stream, so that it is read again.
    mutating func forgetStream(_ key: StreamKey) { self.streams.forget(key) }

    mutating func clear() {
        self.version = nil
        self.rooms.clear()
        self.streams.clear()
        self.elements.clear()
        self.annotations.clear()
        self.users.clear()
        self.entries = [:]
        self.outcomes.removeAll(keepingCapacity: true)
    }
}

private struct KnownRoom: Weighed {
    var state: StoredRoom
    var weight: Int { 112 }
}

private struct KnownCount: Weighed {
    let count: Int

    init(_ count: Int) { self.count = count }

    var weight: Int { 160 }
}

/// A stream, or the fact that it does not exist.
private struct KnownStream: Weighed {
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
