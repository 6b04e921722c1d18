import Canvas
import Wire

extension DeleteElement: DecidableEdit {
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        need(self.element, .family)
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        let key = ElementKey(commit.room, self.element)
        let live = try draft.living(key, &cache)
        try live.refuseIfLocked()
        var change = Change(event: .deleted, entries: [Change.Entry(deleting: live, key)])
        for child in live.children ?? [] {
            let childKey = ElementKey(commit.room, child)
            guard case .live(let living) = draft.state(childKey, &cache) else { continue }
            change.entries.append(Change.Entry(deleting: living, childKey))
        }
        return change
    }

    func adjustments(
        before: [Element], stored: [UpdatedElement], by user: Identifier, _ rules: RulesTable
    ) -> [Adjusted] { [] }
}
