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

    func adjustments(
        before: [Element], stored: [UpdatedElement], by user: Identifier, _ rules: RulesTable
    ) -> [Adjusted] {
        rules.adjustments(to: self.item, by: user, named: nil)
    }

    func reproduces(_ stored: [Element], from before: [Element], by user: Identifier, _ rules: RulesTable) -> Bool {
        stored.elementsEqual(CollectionOfOne(self.item)) { rules.creates($0, as: $1, by: user) }
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

    /// A generated id differs when the commit is repeated: the stored one counts.
    func adjustments(
        before: [Element], stored: [UpdatedElement], by user: Identifier, _ rules: RulesTable
    ) -> [Adjusted] {
        self.items.enumerated().flatMap { index, item in
            rules.adjustments(to: item, by: user, named: index < stored.count ? stored[index].id : item.id)
        }
    }

    func reproduces(_ stored: [Element], from before: [Element], by user: Identifier, _ rules: RulesTable) -> Bool {
        stored.elementsEqual(self.items) { rules.creates($0, as: $1, by: user) }
    }
}

extension BatchDraft {
    /// - Parameter field: the array of elements in the app's payload.
    /// - Throws: a refusal when an edit has no elements or too many.
    func checkGroup(_ count: Int, field: String = "elements") throws(Refusal) {
        if count == 0 { throw Refusal(.invalid, "The edit has no element.", field: field) }
        if count > self.limits.elementsPerCommit {
            throw Refusal(.tooLarge, "An edit has at most \(self.limits.elementsPerCommit) elements.", field: field)
        }
    }
}
