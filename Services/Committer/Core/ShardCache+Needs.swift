import Canvas
import Wire

/// Collects the state that must be read before a run of commits can be decided, without duplicates.
struct Needs {
    private(set) var request: LoadRequest
    /// The maximum number of elements that one commit changes.
    let commitElements: Int
    /// The most bytes of entries that one undo passes over.
    let skippedBytes: Int
    /// How many elements the deletions and undos so far will change, as far as that is known.
    var changes = 0
    /// Whether a commit would change more elements than one may.
    var hasOversized = false
    private var annotated: Set<ElementKey> = []
    private var rooms: Set<Identifier> = []
    private var streams: Set<StreamKey> = []
    private var elements: [ElementKey: Int] = [:]
    private var outcomes: Set<CommitKey> = []
    private var users: Set<UserKey> = []

    init(shard: Int, limits: CommitterLimits) {
        self.request = LoadRequest(shard: shard)
        self.commitElements = limits.commitElements
        self.skippedBytes = limits.skippedBytes
    }

    mutating func room(_ room: Identifier) {
        if self.rooms.insert(room).inserted { self.request.rooms.append(room) }
    }

    mutating func stream(of commit: PreparedCommit) {
        guard self.streams.insert(commit.stream).inserted else { return }
        self.request.streams.append(StreamNeed(key: commit.stream, user: commit.user))
    }

    mutating func element(_ key: ElementKey, family: Bool) {
        if let index = self.elements[key] {
            if family { self.request.elements[index].family = true }
        } else {
            self.elements[key] = self.request.elements.count
            self.request.elements.append(ElementNeed(key: key, family: family))
        }
    }

    mutating func annotations(of key: ElementKey) {
        if self.annotated.insert(key).inserted { self.request.annotations.append(key) }
    }

    mutating func user(_ key: UserKey) {
        if self.users.insert(key).inserted { self.request.users.append(key) }
    }

    mutating func entry(_ need: UndoEntryNeed) {
        if !self.request.entries.contains(need) { self.request.entries.append(need) }
    }

    mutating func outcome(_ key: CommitKey) {
        if self.outcomes.insert(key).inserted { self.request.outcomes.append(key) }
    }
}

extension ShardCache {
    /// Adds the state that a commit's decision needs and the cache lacks.
    mutating func collect(_ commit: inout PreparedCommit, rules: RulesTable, into needs: inout Needs) {
        if !self.rooms.knows(commit.room) { needs.room(commit.room) }
        self.collectStream(&commit, into: &needs)
        if !self.stacks.knows(commit.owner) { needs.user(commit.owner) }
        if case .edit(let edit) = commit.edit.request {
            edit.collect(for: &commit, rules: rules, in: &self, into: &needs)
        }
    }

    /// Adds what is missing of an element. True when nothing was.
    mutating func collect(_ scope: NeedScope, _ key: ElementKey, into needs: inout Needs) -> Bool {
        switch scope {
        case .element: self.collectElement(key, into: &needs)
        case .withParent: self.collectWithParent(key, into: &needs)
        case .annotated: self.collectAnnotated(key, into: &needs)
        case .family: self.collectFamily(key, into: &needs)
        }
    }

    /// The stream, and the stored outcome in case the commit's number is an old one.
    private mutating func collectStream(_ commit: inout PreparedCommit, into needs: inout Needs) {
        guard let known = self.streams.use(commit.stream) else {
            needs.stream(of: commit)
            if !self.knowsOutcome(of: commit.key) { needs.outcome(commit.key) }
            // The answer will be at least as recent as the commit.
            commit.isClaimVerified = true
            return
        }
        if commit.sessionEpoch > known.state?.sessionEpoch ?? 1, !commit.isClaimVerified {
            // The session was resumed after it was read.
            commit.isClaimVerified = true
            self.streams.forget(commit.stream)
            needs.stream(of: commit)
        }
        // A request over HTTP may be in the log although its stream was evicted.
        let isOld = commit.number <= known.state?.highest ?? 0 || SessionKey.isHTTP(commit.stream.session)
        if isOld, !self.knowsOutcome(of: commit.key) { needs.outcome(commit.key) }
    }

    private mutating func collectElement(_ key: ElementKey, into needs: inout Needs) -> Bool {
        if self.elements.knows(key) { return true }
        needs.element(key, family: false)
        return false
    }

    /// The parent's id is known only when the element is: it is read after it.
    private mutating func collectWithParent(_ key: ElementKey, into needs: inout Needs) -> Bool {
        guard self.collectElement(key, into: &needs) else { return false }
        guard case .live(let live)? = self.elements.use(key), let parent = live.element.parentId else { return true }
        return self.collectElement(ElementKey(key.room, Identifier(parent)), into: &needs)
    }

    private mutating func collectAnnotated(_ key: ElementKey, into needs: inout Needs) -> Bool {
        let isCounted = self.annotations.knows(key)
        if !isCounted { needs.annotations(of: key) }
        return self.collectElement(key, into: &needs) && isCounted
    }

    /// A deletion includes the element's children, which are read if there are any.
    private mutating func collectFamily(_ key: ElementKey, into needs: inout Needs) -> Bool {
        switch self.elements.use(key) {
        case .absent, .deleted:
            return true
        case .live(let live):
            guard let children = live.children else {
                if self.annotations.use(key)?.count != 0 { break }
                self.elements.store(.live(live.with(children: [])), for: key)
                return true
            }
            var isComplete = true
            for child in children where !self.collectElement(ElementKey(key.room, child), into: &needs) {
                isComplete = false
            }
            return isComplete
        case nil:
            break
        }
        needs.element(key, family: true)
        return false
    }
}
