import Canvas
import JSONBytes
import Wire

/// A row of an entry with its elements, in the order of the log.
struct UndoneRow {
    let seq: UInt64
    /// Those that the change created.
    let created: [Element]
    /// Those that it left in place.
    let changed: [ChangedElement]
    /// Those that it deleted.
    let deleted: [Element]

    init(_ row: UndoRow) {
        self.seq = row.seq
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
///
/// All of that happens, or nothing while an ``obstacle`` keeps some of it from happening.
struct Reversal {
    private let user: UserKey
    private let direction: UndoDirection
    private let rules: RulesTable
    /// The elements as they are; absent: they are not living.
    private var original: [Identifier: LiveElement] = [:]
    /// The elements as they become.
    private var current: [Identifier: Element] = [:]
    /// The users that changed the elements last, also those of deleted ones.
    private var authors: [Identifier: RecentAuthors] = [:]
    /// Why an element cannot be taken back now.
    private var obstacles: [Identifier: Refusal] = [:]
    /// The elements of the entry, in the order in which it concerns them.
    private var order: [Identifier] = []
    private var seen: Set<Identifier> = []
    /// The annotations that were restored, by their parents.
    private var restoredChildren: [Identifier: [Identifier]] = [:]

    /// Works out the effect. The cache must have the elements that the rows name, with the families of those that they
    /// created.
    /// - Parameters:
    ///   - rows: the entry's rows, the newest first.
    ///   - user: the user whose entry it is.
    init(
        of rows: [UndoneRow], _ direction: UndoDirection, by user: UserKey, rules: RulesTable,
        _ cache: inout ShardCache
    ) {
        self.user = user
        self.direction = direction
        self.rules = rules
        for row in rows {
            // Annotations may have been named before their parents, and have no annotations themselves.
            for element in row.deleted where element.parentId == nil { self.restore(element, &cache) }
            for element in row.deleted where element.parentId != nil { self.restore(element, &cache) }
            for change in row.changed { self.undo(change, &cache) }
            for element in row.created { self.delete(Identifier(element.id), since: row.seq, &cache) }
        }
    }

    // MARK: Working it out

    private mutating func touch(_ id: Identifier, _ cache: inout ShardCache) {
        guard self.seen.insert(id).inserted else { return }
        self.order.append(id)
        switch cache.elements.use(self.key(id)) {
        case .live(let live):
            self.original[id] = live
            self.current[id] = live.element
            self.authors[id] = live.authors
        case .deleted(let authors): self.authors[id] = authors
        case .absent, nil: break
        }
    }

    private func key(_ id: Identifier) -> ElementKey { ElementKey(self.user.room, id) }

    /// An annotation is restored only together with its parent, or onto it.
    private mutating func restore(_ element: Element, _ cache: inout ShardCache) {
        let id = Identifier(element.id)
        let parent = element.parentId.map { Identifier($0) }
        self.touch(id, &cache)
        guard self.current[id] == nil else { return }
        if let parent, !self.isLiving(parent, cache: &cache) {
            self.obstacles[id] = Refusal(
                .conflict, "The element \(id) is an annotation, and its parent was deleted.", field: "parentId")
            return
        }
        self.current[id] = element
        if let parent { self.restoredChildren[parent, default: []].append(id) }
    }

    private func isLiving(_ id: Identifier, cache: inout ShardCache) -> Bool {
        if self.seen.contains(id) { return self.current[id] != nil }
        if case .live? = cache.elements.use(self.key(id)) { return true }
        return false
    }

    private mutating func undo(_ change: ChangedElement, _ cache: inout ShardCache) {
        let id = Identifier(change.after.id)
        self.touch(id, &cache)
        guard var element = self.current[id] else { return }
        let hasLockedAspect = self.rules.rules(for: change.after.type).lockedAspect
        switch change.undo(in: &element, hasLockedAspect: hasLockedAspect) {
        case .locked: self.obstacles[id] = .locked(id)
        case .ownFieldsTooLarge:
            self.obstacles[id] = Refusal(
                .tooLarge, "The own fields of the element \(id) would be too large together.", field: "element")
        case nil: break
        }
        self.current[id] = element
    }

    /// Deletes an element with its annotations, unless it is locked, or others' work would be deleted.
    /// - Parameter seq: the room's number of its creation.
    private mutating func delete(_ id: Identifier, since seq: UInt64, _ cache: inout ShardCache) {
        self.touch(id, &cache)
        guard let element = self.current[id] else {
            self.obstacles[id] = nil
            return
        }
        if element.locked {
            self.obstacles[id] = .locked(id)
            return
        }
        // An entry may have created and deleted it: then its annotations were restored a moment ago.
        let family =
            [id] + (self.original[id]?.children ?? []) + (self.restoredChildren.removeValue(forKey: id) ?? [])
        for member in family {
            self.touch(member, &cache)
            self.obstacles[member] = nil
            if self.original[member] != nil, let by = self.otherUser(of: member, since: seq) {
                let message = "\(by) has worked on the element \(member) since."
                self.obstacles[id] = Refusal(.conflict, message, field: self.direction.name, by: by)
            }
            self.current[member] = nil
        }
    }

    /// Another user that has changed an element since.
    private func otherUser(of id: Identifier, since seq: UInt64) -> Identifier? {
        guard let other = self.authors[id]?.lastChange(byOtherThan: self.user.user), other.seq > seq else { return nil }
        return other.user
    }

    // MARK: The effect

    /// Why it cannot happen now: the refusal of the first element that keeps it from happening.
    var obstacle: Refusal? { self.order.lazy.compactMap { self.obstacles[$0] }.first }

    var hasEffect: Bool { self.order.contains { self.isAffected($0) } }

    private func isAffected(_ id: Identifier) -> Bool {
        switch (self.original[id], self.current[id]) {
        case (nil, nil): false
        case (let live?, let element?): live.element != element
        case (nil, .some), (.some, nil): true
        }
    }

    /// The change: restored elements first, then changed ones, then deleted ones.
    /// - Parameters:
    ///   - mark: what the change will be.
    ///   - motion: how the eye gets to where elements are changed back; nil: at once.
    ///   - time: ms since 1970 by the host's clock.
    func change(as mark: ChangeMark, motion: MotionRequest?, at time: Double) -> Change {
        let affected = self.order.filter { self.isAffected($0) }
        let restored = affected.filter { self.original[$0] == nil }
        let changed = affected.filter { self.original[$0] != nil && self.current[$0] != nil }
        let deleted = affected.filter { self.current[$0] == nil }
        var entries: [Change.Entry] = []
        for id in restored + changed {
            guard var element = self.current[id] else { continue }
            let live = self.original[id]
            if var former = live?.element {
                former.playback.leaveOutEnded(at: time)
                element.playback.leaveOutEnded(at: time)
                let animation = element.animation
                element.endTracks(changedFrom: former)
                if let motion {
                    _ = self.rules.begin(motion, of: &element, from: former, sent: TransformFields(), at: time)
                }
                // One that is brought back is whole.
                if animation != former.animation { element.animation = animation }
            } else {
                element.motion = Motion()
            }
            element.recordChange(by: mark.user.text)
            // All annotations of a deleted element are deleted: a restored one has none but those that come back with it.
            let children = live.map(\.children) ?? []
            let authors = self.authors[id]?.followed(by: mark) ?? RecentAuthors(last: mark)
            var entry = Change.Entry(
                self.key(id), before: live?.json, element, children: children, authors: authors)
            entry.isRestored = live == nil
            entry.changesAnimation = live.map { $0.element.animation != element.animation } ?? false
            entries.append(entry)
        }
        for id in deleted {
            guard let live = self.original[id] else { continue }
            entries.append(Change.Entry(deleting: live, self.key(id)))
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
