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
