import Canvas
import Wire

extension CreateElement: DecidableEdit {
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        self.item.forEachNeed(need)
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        var creation = Creation(.created, for: commit)
        try creation.add(self.item, path: "element", named: false, in: &draft, &cache)
        return creation.change
    }
}

extension CreateElements: DecidableEdit {
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        for item in self.items { item.forEachNeed(need) }
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        try draft.checkGroup(self.items.count)
        var creation = Creation(.createdMany, for: commit)
        for (index, item) in self.items.enumerated() {
            try creation.add(item, path: "elements[\(index)]", named: true, in: &draft, &cache)
        }
        return creation.change
    }
}

extension BatchDraft {
    /// - Parameter field: the array of elements in the app's payload.
    /// - Throws: a refusal when an edit has no elements or too many.
    func checkGroup(_ count: Int, field: String = "elements") throws(Refusal) {
        if count == 0 { throw Refusal(.invalid, "The edit has no element.", field: field) }
        if count > self.limits.groupElements {
            throw Refusal(.tooLarge, "An edit has at most \(self.limits.groupElements) elements.", field: field)
        }
    }
}
