import Canvas
import Wire

/// Deletes several elements with their annotations, whether they are locked or not.
struct EraseElements: Decidable {
    let elements: [Identifier]

    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        for element in self.elements { need(element, .family) }
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        try draft.checkGroup(self.elements.count)
        var change = Change(event: .deleted, entries: [])
        var seen: Set<Identifier> = []
        for element in self.elements {
            guard let live = self.add(element, to: &change, &seen, commit, in: &draft, &cache) else { continue }
            for child in live.children ?? [] {
                _ = self.add(child, to: &change, &seen, commit, in: &draft, &cache)
            }
        }
        if change.entries.isEmpty {
            throw Refusal(.notFound, "None of the elements exists any more.", field: "elements")
        }
        return change
    }

    /// Adds an element to those that are deleted.
    /// - Returns: the element; nil when it does not exist, or was added before.
    private func add(
        _ element: Identifier, to change: inout Change, _ seen: inout Set<Identifier>, _ commit: PreparedCommit,
        in draft: inout BatchDraft, _ cache: inout ShardCache
    ) -> LiveElement? {
        let key = ElementKey(commit.room, element)
        guard case .live(let live) = draft.state(key, &cache), seen.insert(element).inserted else { return nil }
        change.entries.append(Change.Entry(deleting: live, key))
        return live
    }

    func adjustments(
        before: [Element], stored: [UpdatedElement], by user: Identifier, _ rules: RulesTable
    ) -> [Adjusted] { [] }
}
