import Canvas
import Wire

/// Creates elements as they were elsewhere, all or none.
struct RestoreElements: Decidable {
    let elements: [Element]

    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        for element in self.elements {
            need(Identifier(element.id), .element)
            if let parent = element.parent { need(parent, .annotated) }
        }
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        try draft.checkGroup(self.elements.count)
        var change = Change(event: .createdMany, entries: [])
        var restored: [Identifier: Element] = [:]
        let seq = draft.mark(of: commit, &cache).seq
        for (index, element) in self.elements.enumerated() {
            let key = ElementKey(commit.room, Identifier(element.id))
            guard restored[key.element] == nil, draft.state(key, &cache) == .absent else {
                throw Refusal(.conflict, "The id is or was in use.", field: "elements[\(index)].id")
            }
            if let parent = element.parent {
                guard let found = restored[parent] ?? draft.parent(ElementKey(commit.room, parent), &cache),
                    found.parentId == nil
                else { throw Refusal(.notFound, "The parent does not exist.", field: "elements[\(index)].parentId") }
            }
            restored[key.element] = element
            // Its children are not read, so they are unknown: a later commit may add some.
            let authors = RecentAuthors(last: ChangeMark(user: Identifier(element.updatedBy), seq: seq))
            change.entries.append(Change.Entry(key, before: nil, element, children: nil, authors: authors))
        }
        return change
    }
}

extension Element {
    fileprivate var parent: Identifier? { self.parentId.map { Identifier($0) } }
}

extension BatchDraft {
    /// An element that exists; nil when there is none.
    fileprivate mutating func parent(_ key: ElementKey, _ cache: inout ShardCache) -> Element? {
        if case .live(let live) = self.state(key, &cache) { live.element } else { nil }
    }
}
