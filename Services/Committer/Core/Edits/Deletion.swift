import Wire

/// The deleted elements of a commit, each parent followed by its annotations.
struct Deletion {
    private(set) var change = Change(event: .deleted, entries: [])
    private let room: Identifier
    private var deleted: Set<Identifier> = []

    init(in room: Identifier) {
        self.room = room
    }

    /// Adds an element with its annotations.
    /// - Throws: a refusal when it does not exist, is locked, or has more annotations than a commit may delete.
    mutating func add(
        _ id: Identifier, field: @autoclosure () -> String, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) {
        let live = try draft.living(ElementKey(self.room, id), &cache, field: field())
        try live.refuseIfLocked()
        try self.add(live, id, field: field(), in: &draft, &cache)
    }

    /// Adds an element with its annotations if it exists, locked or not.
    /// - Throws: a refusal when it has more annotations than a commit may delete.
    mutating func addIfLiving(
        _ id: Identifier, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) {
        guard case .live(let live) = draft.state(ElementKey(self.room, id), &cache) else { return }
        try self.add(live, id, field: "elements", in: &draft, &cache)
    }

    private mutating func add(
        _ live: LiveElement, _ id: Identifier, field: @autoclosure () -> String, in draft: inout BatchDraft,
        _ cache: inout ShardCache
    ) throws(Refusal) {
        // Too many are not read.
        guard let children = live.children else { throw draft.tooManyChanges(field: field()) }
        self.delete(live, id)
        for child in children {
            guard case .live(let living) = draft.state(ElementKey(self.room, child), &cache) else { continue }
            self.delete(living, child)
        }
    }

    /// One that went with its parent already is not deleted twice.
    private mutating func delete(_ live: LiveElement, _ id: Identifier) {
        guard self.deleted.insert(id).inserted else { return }
        self.change.entries.append(Change.Entry(deleting: live, ElementKey(self.room, id)))
    }
}
