import Canvas
import Wire

extension DeleteElement: DecidableEdit {
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        need(self.element, .family)
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        var deletion = Deletion(in: commit.room)
        try deletion.add(self.element, field: "elementId", in: &draft, &cache)
        return deletion.change
    }

    func adjustments(
        before: [Element], stored: [UpdatedElement], by user: Identifier, _ rules: RulesTable
    ) -> [Adjusted] { [] }
}

extension DeleteElements: DecidableEdit {
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        for id in self.ids { need(id, .family) }
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        try draft.checkGroup(self.ids.count, field: "elementIds")
        var deletion = Deletion(in: commit.room)
        for (index, id) in self.ids.enumerated() {
            try deletion.add(id, field: "elementIds[\(index)]", in: &draft, &cache)
        }
        return deletion.change
    }

    func adjustments(
        before: [Element], stored: [UpdatedElement], by user: Identifier, _ rules: RulesTable
    ) -> [Adjusted] { [] }
}

/// The deleted elements of a commit, each parent followed by its annotations.
private struct Deletion {
    private(set) var change = Change(event: .deleted, entries: [])
    private let room: Identifier
    private var deleted: Set<Identifier> = []

    init(in room: Identifier) {
        self.room = room
    }

    /// Adds an element with its annotations. One that went with its parent already is not deleted twice.
    /// - Throws: a refusal when it does not exist or is locked.
    mutating func add(
        _ id: Identifier, field: @autoclosure () -> String, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) {
        let live = try draft.living(ElementKey(self.room, id), &cache, field: field())
        try live.refuseIfLocked()
        self.delete(live, id)
        for child in live.children ?? [] {
            guard case .live(let living) = draft.state(ElementKey(self.room, child), &cache) else { continue }
            self.delete(living, child)
        }
    }

    private mutating func delete(_ live: LiveElement, _ id: Identifier) {
        guard self.deleted.insert(id).inserted else { return }
        self.change.entries.append(Change.Entry(deleting: live, ElementKey(self.room, id)))
    }
}
