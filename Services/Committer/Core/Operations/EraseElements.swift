import Canvas
import Wire

/// Deletes several elements with their annotations, whether they are locked or not.
struct EraseElements: FamilyDeletion {
    let elements: [Identifier]

    var parents: [Identifier] { self.elements }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        try draft.checkGroup(self.elements.count)
        var deletion = Deletion(in: commit.room)
        for element in self.elements { try deletion.addIfLiving(element, in: &draft, &cache) }
        if deletion.change.entries.isEmpty {
            throw Refusal(.notFound, "None of the elements exists any more.", field: "elements")
        }
        return deletion.change
    }
}
