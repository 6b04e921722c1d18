import Canvas
import JSONBytes
import Wire

/// A row of an entry with its elements, in the order of the log.
struct UndoneRow {
    /// Those that the change created.
    let created: [Element]
    /// Those that it left in place.
    let changed: [ChangedElement]
    /// Those that it deleted.
    let deleted: [Element]

    init(_ row: UndoRow) {
        var document = JSONDocument()
        let before = row.event.shape.logged(row.before, with: &document)
        let after = row.event.shape.logged(row.after, with: &document)
        let old = Set(before.map { Identifier($0.id) })
        let living = Dictionary(after.map { (Identifier($0.id), $0) }) { first, _ in first }
        self.created = after.filter { !old.contains(Identifier($0.id)) }
        self.changed = before.compactMap { element in
            living[Identifier(element.id)].map { ChangedElement(before: element, after: $0) }
        }
        self.deleted = before.filter { living[Identifier($0.id)] == nil }
    }
}

/// The effect of taking back an entry, worked out on the present elements: what its user created is deleted, what was
/// deleted is restored, and what was changed is changed back where it still is as that user left it.
struct Reversal {
    private let room: Identifier
    private let rules: RulesTable
    /// The elements as they are; absent: they are not living.
    private var original: [Identifier: LiveElement] = [:]
    /// The elements as they become.
    private var current: [Identifier: Element] = [:]
    /// The elements of the entry, in the order in which it concerns them.
    private var order: [Identifier] = []
    private var seen: Set<Identifier> = []
    /// The annotations that were restored, by their parents.
    private var restoredChildren: [Identifier: [Identifier]] = [:]

    /// Works out the effect. The cache must have the elements that the rows name, with the families of those that they
    /// created.
    /// - Parameter rows: the entry's rows, the newest first.
    init(of rows: [UndoneRow], in room: Identifier, rules: RulesTable, _ cache: inout ShardCache) {
        self.room = room
        self.rules = rules
        for row in rows {
            // Annotations may have been named before their parents, and have no annotations themselves.
            for element in row.deleted where element.parentId == nil { self.restore(element, &cache) }
            for element in row.deleted where element.parentId != nil { self.restore(element, &cache) }
            for change in row.changed { self.undo(change, &cache) }
            for element in row.created { self.delete(Identifier(element.id), &cache) }
        }
    }

    // MARK: Working it out

    private mutating func touch(_ id: Identifier, _ cache: inout ShardCache) {
        guard self.seen.insert(id).inserted else { return }
        self.order.append(id)
        guard case .live(let live)? = cache.element(ElementKey(self.room, id)) else { return }
        self.original[id] = live
        self.current[id] = live.element
    }

    /// An annotation is restored only together with its parent, or onto it.
    private mutating func restore(_ element: Element, _ cache: inout ShardCache) {
        let id = Identifier(element.id)
        let parent = element.parentId.map { Identifier($0) }
        if let parent, !self.isLiving(parent, cache: &cache) { return }
        self.touch(id, &cache)
        guard self.current[id] == nil else { return }
        self.current[id] = element
        if let parent { self.restoredChildren[parent, default: []].append(id) }
    }

    private func isLiving(_ id: Identifier, cache: inout ShardCache) -> Bool {
        if self.seen.contains(id) { return self.current[id] != nil }
        if case .live? = cache.element(ElementKey(self.room, id)) { return true }
        return false
    }

    private mutating func undo(_ change: ChangedElement, _ cache: inout ShardCache) {
        let id = Identifier(change.after.id)
        self.touch(id, &cache)
        guard var element = self.current[id] else { return }
        let hasLockedAspect = self.rules.rules(for: change.after.type).lockedAspect
        change.undo(in: &element, hasLockedAspect: hasLockedAspect)
        self.current[id] = element
    }

    /// Deletes an element with its annotations, whoever made them; not a locked one.
    private mutating func delete(_ id: Identifier, _ cache: inout ShardCache) {
        self.touch(id, &cache)
        guard let element = self.current[id], !element.locked else { return }
        self.current[id] = nil
        // An entry may have created and deleted it: then its annotations were restored a moment ago.
        for child in (self.original[id]?.children ?? []) + (self.restoredChildren.removeValue(forKey: id) ?? []) {
            self.touch(child, &cache)
            self.current[child] = nil
        }
    }

    // MARK: The effect

    /// True when something would change.
    var hasEffect: Bool { self.order.contains { self.isAffected($0) } }

    private func isAffected(_ id: Identifier) -> Bool {
        switch (self.original[id], self.current[id]) {
        case (nil, nil): false
        case (let live?, let element?): live.element != element
        case (nil, .some), (.some, nil): true
        }
    }

    /// The change: restored elements first, then changed ones, then deleted ones.
    func change(by user: String) -> Change {
        let affected = self.order.filter { self.isAffected($0) }
        let restored = affected.filter { self.original[$0] == nil }
        let changed = affected.filter { self.original[$0] != nil && self.current[$0] != nil }
        let deleted = affected.filter { self.current[$0] == nil }
        var entries: [Change.Entry] = []
        for id in restored + changed {
            guard var element = self.current[id] else { continue }
            element.recordChange(by: user)
            let live = self.original[id]
            // All annotations of a deleted element are deleted: a restored one has none but those that come back with it.
            let children = live.map(\.children) ?? []
            var entry = Change.Entry(ElementKey(self.room, id), before: live?.json, element, children: children)
            entry.isRestored = live == nil
            entries.append(entry)
        }
        for id in deleted {
            guard let live = self.original[id] else { continue }
            entries.append(Change.Entry(deleting: live, ElementKey(self.room, id)))
        }
        return Change(event: self.event(restored: restored.count, changed, deleted: deleted.count), entries: entries)
    }

    /// The event that tells members the most with the least: the one that an edit of that effect would have.
    private func event(restored: Int, _ changed: [Identifier], deleted: Int) -> UpdateEvent {
        if changed.isEmpty, deleted == 0 { return restored == 1 ? .created : .createdMany }
        if changed.isEmpty, restored == 0 { return .deleted }
        if restored > 0 || deleted > 0 { return .changedMany }
        let changes = changed.compactMap { id in
            self.current[id].flatMap { now in
                self.original[id].map { ChangedElement(before: $0.element, after: now) }
            }
        }
        if !changes.contains(where: \.changesContent) { return .transformedMany }
        if changes.count == 1, !changes[0].changesGeometry { return .updated }
        return .changedMany
    }
}

extension UpdateShape {
    /// The elements of a text of the log; none when there is no text.
    func logged(_ text: [UInt8], with document: inout JSONDocument) -> [Element] {
        guard (try? document.parse(text, limits: .logged)) != nil else { return [] }
        return self.isSingle
            ? Element(json: document.root).map { [$0] } ?? [] : document.root.elements.compactMap(Element.init(json:))
    }
}
