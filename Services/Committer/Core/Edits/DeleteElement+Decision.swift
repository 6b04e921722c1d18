import Canvas
import Wire

extension DeleteElement: DecidableEdit, FamilyDeletion {
    var parents: [Identifier] { [self.element] }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        var deletion = Deletion(in: commit.room)
        try deletion.add(self.element, field: "elementId", in: &draft, &cache)
        return deletion.change
    }
}

extension DeleteElements: DecidableEdit, FamilyDeletion {
    var parents: [Identifier] { self.ids }

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
}
