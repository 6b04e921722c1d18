import Canvas
import JSONBytes
import Wire

extension BatchDraft {
    /// What one commit does, before it has a number.
    struct Change {
        var event: UpdateEvent
        /// The room's last number before it.
        var roomSeq: UInt64
        /// What stands afterwards, and what is written: for a deleted element its last state.
        var states: [(ElementKey, ElementState, Element)]
        /// What the update and the acknowledgement carry.
        var elements: [UpdatedElement]
        var adjusted: [AppliedOutcome.Adjusted] = []
        /// For the log.
        var before: [UInt8]?
        var after: [UInt8]?
    }

    /// What the commit changes.
    /// - Throws: the refusal, which is final.
    mutating func change(_ commit: PreparedCommit, _ cache: inout ShardCache) throws(Refusal) -> Change {
        switch commit.command {
        case .transform(let id, let fields):
            let (key, live) = try self.existing(id, commit, &cache)
            try Self.refuseLocked(live)
            var element = live.element
            let adjusted = self.rules.apply(fields, to: &element)
            return self.changed(.transformed, key, live, element, adjusted, commit, &cache)
        case .update(let id, let changes):
            let (key, live) = try self.existing(id, commit, &cache)
            do { try live.element.check(changes) } catch {
                throw Refusal(error.tooLarge ? .tooLarge : .invalid, error.message, field: error.field)
            }
            var element = live.element
            let adjusted = self.rules.apply(changes, to: &element)
            return self.changed(.updated, key, live, element, adjusted, commit, &cache)
        case .create(let elements, let single):
            return try self.create(elements, single: single, commit, &cache)
        case .delete(let id):
            return try self.delete(id, commit, &cache)
        case .refuse(let refusal):
            throw refusal
        }
    }

    // MARK: One element

    private mutating func existing(
        _ id: Identifier, _ commit: PreparedCommit, _ cache: inout ShardCache
    ) throws(Refusal) -> (ElementKey, LiveElement) {
        let key = ElementKey(commit.room, id)
        switch self.state(key, &cache) {
        case .live(let live): return (key, live)
        case .deleted: throw Refusal(.gone, "The element was deleted.", field: "elementId")
        case .absent: throw Refusal(.notFound, "There is no such element.", field: "elementId")
        }
    }

    private static func refuseLocked(_ live: LiveElement) throws(Refusal) {
        if live.element.locked { throw Refusal(.forbidden, "The element is locked.", field: "locked") }
    }

    private mutating func changed(
        _ event: UpdateEvent, _ key: ElementKey, _ live: LiveElement, _ element: Element, _ adjusted: [Adjustment],
        _ commit: PreparedCommit, _ cache: inout ShardCache
    ) -> Change {
        var element = element
        element.recordChange(by: commit.user.text)
        let now = LiveElement(element, children: live.children)
        return Change(
            event: event, roomSeq: self.roomSeq(commit.room, &cache), states: [(key, .live(now), element)],
            elements: [UpdatedElement(id: key.element, json: now.json)],
            adjusted: adjusted.map { AppliedOutcome.Adjusted(adjustment: $0) }, before: live.json, after: now.json)
    }

    // MARK: Creation, all or nothing

    private mutating func create(
        _ new: [PreparedElement], single: Bool, _ commit: PreparedCommit, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        var change = Change(
            event: single ? .created : .createdMany, roomSeq: self.roomSeq(commit.room, &cache), states: [],
            elements: [])
        /// Where each new element, and each parent that got one, stands in `change.states`.
        var places: [ElementKey: Int] = [:]
        for (index, item) in new.enumerated() {
            let path = single ? "element" : "elements[\(index)]"
            let key = ElementKey(commit.room, item.id)
            if places[key] != nil { throw Refusal(.conflict, "The id is taken.", field: path + ".id") }
            switch self.state(key, &cache) {
            case .live: throw Refusal(.conflict, "The id is taken.", field: path + ".id")
            case .deleted: throw Refusal(.gone, "An element of that id was deleted.", field: path + ".id")
            case .absent: break
            }
            if let parent = item.fields.parentId {
                let parentKey = ElementKey(commit.room, Identifier(parent))
                try self.checkParent(parentKey, path: path, new: change.states, places, &cache)
            }
            let (element, adjusted) = self.rules.create(item.fields, id: item.id.text, by: commit.user.text)
            let live = LiveElement(element, children: [])
            places[key] = change.states.count
            change.states.append((key, .live(live), element))
            change.elements.append(UpdatedElement(id: item.id, json: live.json))
            change.adjusted += adjusted.map {
                AppliedOutcome.Adjusted(element: single ? nil : item.id.text, adjustment: $0)
            }
        }
        self.adopt(new, commit.room, &change, places, &cache)
        change.after = single ? change.elements.first?.json : Self.array(change.elements.map(\.json))
        return change
    }

    /// What an element hangs on must live, and hang on nothing itself.
    private mutating func checkParent(
        _ key: ElementKey, path: String, new: [(ElementKey, ElementState, Element)], _ places: [ElementKey: Int],
        _ cache: inout ShardCache
    ) throws(Refusal) {
        let state = places[key].map { new[$0].1 } ?? self.state(key, &cache)
        switch state {
        case .absent: throw Refusal(.notFound, "There is no such element.", field: path + ".parentId")
        case .deleted: throw Refusal(.gone, "The element was deleted.", field: path + ".parentId")
        case .live(let parent):
            if parent.element.parentId != nil {
                throw Refusal(.invalid, "An annotation has no annotations.", field: path + ".parentId")
            }
        }
    }

    /// Notes with every parent what now hangs on it. That is knowledge, not a change: nothing of it is written.
    private mutating func adopt(
        _ new: [PreparedElement], _ room: Identifier, _ change: inout Change, _ places: [ElementKey: Int],
        _ cache: inout ShardCache
    ) {
        for item in new {
            guard let parent = item.fields.parentId else { continue }
            let key = ElementKey(room, Identifier(parent))
            if let place = places[key], case .live(var live) = change.states[place].1 {
                live.children?.append(item.id)
                change.states[place].1 = .live(live)
            } else if case .live(var live) = self.state(key, &cache), live.children != nil {
                live.children?.append(item.id)
                self.note(.live(live), for: key)
            }
        }
    }

    // MARK: Deletion, with what hangs on it

    private mutating func delete(
        _ id: Identifier, _ commit: PreparedCommit, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        let (key, live) = try self.existing(id, commit, &cache)
        try Self.refuseLocked(live)
        var change = Change(
            event: .deleted, roomSeq: self.roomSeq(commit.room, &cache), states: [(key, .deleted, live.element)],
            elements: [UpdatedElement(id: id, json: [])])
        var before = [live.json]
        for child in live.children ?? [] {
            let childKey = ElementKey(commit.room, child)
            guard case .live(let living) = self.state(childKey, &cache) else { continue }
            change.states.append((childKey, .deleted, living.element))
            change.elements.append(UpdatedElement(id: child, json: []))
            before.append(living.json)
        }
        change.before = Self.array(before)
        return change
    }

    private static func array(_ values: [[UInt8]]) -> [UInt8] {
        var writer = JSONWriter(reserving: 2 + values.reduce(0) { $0 + $1.count + 1 })
        writer.beginArray()
        for value in values { writer.raw(value) }
        writer.endArray()
        return writer.bytes
    }
}
