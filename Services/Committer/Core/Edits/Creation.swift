import Canvas
import Wire

/// The new elements of a commit: all are created, or none.
struct Creation {
    private(set) var change: Change
    private let commit: PreparedCommit
    /// The index of each new element in the change.
    private var entries: [ElementKey: Int] = [:]

    init(_ event: UpdateEvent, for commit: PreparedCommit) {
        self.change = Change(event: event, entries: [])
        self.commit = commit
    }

    /// Adds an element on top of the previous ones.
    /// - Parameters:
    ///   - path: its position in the app's payload.
    ///   - named: whether its adjustments name their element.
    mutating func add(
        _ item: NewItem, path: String, named: Bool, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) {
        let key = ElementKey(self.commit.room, item.id)
        if self.entries[key] != nil { throw Refusal(.conflict, "The id is taken.", field: path + ".id") }
        switch draft.state(key, &cache) {
        case .live: throw Refusal(.conflict, "The id is taken.", field: path + ".id")
        case .deleted: throw Refusal(.gone, "An element of that id was deleted.", field: path + ".id")
        case .absent: break
        }
        if let parent = item.parent { try self.checkParent(parent, path: path, in: &draft, &cache) }
        do { try item.fields.check(pictureBytes: draft.limits.pictureBytes, path: path) } catch { throw Refusal(error) }
        var (element, adjustments) = draft.rules.create(item.fields, id: item.id.text, by: self.commit.user.text)
        if let animation = element.animation {
            try draft.rules.check(animation, on: element, field: path + ".animation")
            element.animation?.startedAt = draft.time
        }
        self.entries[key] = self.change.entries.count
        let authors = RecentAuthors(last: draft.mark(of: self.commit, &cache))
        self.change.entries.append(Change.Entry(key, before: nil, element, children: [], authors: authors))
        self.change.adjusted += adjustments.map { Adjusted(element: named ? item.id.text : nil, adjustment: $0) }
    }

    /// The parent of an element must exist, and have no parent itself.
    private func checkParent(
        _ parent: Identifier, path: String, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) {
        let key = ElementKey(self.commit.room, parent)
        let state = self.entries[key].map { self.change.entries[$0].after } ?? draft.state(key, &cache)
        switch state {
        case .absent: throw Refusal(.notFound, "There is no such element.", field: path + ".parentId")
        case .deleted: throw Refusal(.gone, "The element was deleted.", field: path + ".parentId")
        case .live(let parent):
            if parent.element.parentId != nil {
                throw Refusal(.invalid, "An annotation has no annotations.", field: path + ".parentId")
            }
        }
    }
}

extension RulesTable {
    /// - Throws: a refusal when an animation moves what the element's type forbids.
    func check(_ animation: KeyframeAnimation, on element: Element, field: String) throws(Refusal) {
        guard let forbidden = self.forbiddenTrack(of: animation, on: element) else { return }
        throw Refusal(.invalid, "Its type forbids it.", field: "\(field).tracks.\(forbidden.name)")
    }
}

extension NewItem {
    fileprivate var parent: Identifier? { self.fields.parentId.map { Identifier($0) } }

    /// Calls `need` with its id, which must be unused, and with its parent.
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        need(self.id, .element)
        if let parent = self.parent { need(parent, .annotated) }
    }
}
