import Canvas
import Wire

/// How a change alters what its room holds.
struct RoomGrowth {
    /// The difference in elements and their bytes.
    private(set) var totals = RoomTotals()
    /// The annotations that elements get or lose.
    private(set) var families: [ElementKey: FamilyGrowth] = [:]

    /// Adds one element of a change.
    /// - Parameter former: the element before the change; nil when it was not living.
    mutating func add(_ entry: Change.Entry, former: Element?) {
        let element = entry.written.element
        let step = entry.isDeleted ? -1 : former == nil ? 1 : 0
        self.totals.elements += step
        self.totals.bytes += (entry.isDeleted ? 0 : element.storedBytes) - (former?.storedBytes ?? 0)
        guard step != 0, let parent = entry.parent else { return }
        if step > 0 {
            self.families[parent, default: FamilyGrowth()].added.append(entry.key.element)
        } else {
            self.families[parent, default: FamilyGrowth()].removed.insert(entry.key.element)
        }
    }
}

/// The annotations that an element gets, and those that it loses.
struct FamilyGrowth: Sendable {
    fileprivate(set) var added: [Identifier] = []
    fileprivate(set) var removed: Set<Identifier> = []

    var count: Int { self.added.count - self.removed.count }

    /// An element's children after the change, without what is gone: what comes and goes leaves no trace.
    func applied(to children: [Identifier]) -> [Identifier] {
        let gone = self.removed.union(self.added)
        return (gone.isEmpty ? children : children.filter { !gone.contains($0) }) + self.added
    }
}

extension Change.Entry {
    /// The element that it is an annotation of.
    fileprivate var parent: ElementKey? {
        self.written.element.parentId.map { ElementKey(self.key.room, Identifier($0)) }
    }
}

/// A limit of what a room holds, or of what one commit changes.
enum RoomLimit {
    case elements, bytes, annotations, commit
}

extension BatchDraft {
    /// How a change would alter its room, if the limits allow it. Only growth is refused: in a room beyond a limit,
    /// elements can be changed as long as they get no larger, and deleted.
    /// - Throws: a refusal naming the limit and the first element beyond it, and the entry of an undo.
    mutating func growth(
        of change: Change, in room: Identifier, _ cache: inout ShardCache
    ) throws(Refusal) -> RoomGrowth {
        if change.entries.count > self.limits.commitElements { throw self.tooManyChanges(undoing: change.undone) }
        var growth = RoomGrowth()
        guard change.canResize else { return growth }
        for entry in change.entries { growth.add(entry, former: self.former(entry, &cache)) }
        if let limit = self.exceeded(by: growth, in: room, families: growth.families.keys, &cache) {
            throw self.tooLarge(change, limit, in: room, &cache)
        }
        return growth
    }

    /// A refusal of a commit that changes too many elements.
    /// - Parameter field: the place of the elements in the app's payload.
    mutating func tooManyChanges(field: String = "element", undoing undone: Undone? = nil) -> Refusal {
        self.count(.commit)
        var refusal = Refusal(
            .tooLarge,
            "A commit changes at most \(self.limits.commitElements) elements, the annotations of deleted ones included.",
            field: field)
        refusal.entry = undone?.blocked
        return refusal
    }

    private mutating func former(_ entry: Change.Entry, _ cache: inout ShardCache) -> Element? {
        guard entry.before != nil, case .live(let live) = self.state(entry.key, &cache) else { return nil }
        return live.element
    }

    /// The limit that a room would be beyond; nil when it is within all of them, or does not grow.
    /// - Parameter parents: the elements whose annotations are looked at.
    private mutating func exceeded(
        by growth: RoomGrowth, in room: Identifier, families parents: some Sequence<ElementKey>,
        _ cache: inout ShardCache
    ) -> RoomLimit? {
        let totals = self.storedRoom(room, &cache).totals + growth.totals
        if growth.totals.elements > 0, totals.elements > self.limits.roomElements { return .elements }
        if growth.totals.bytes > 0, totals.bytes > self.limits.roomBytes { return .bytes }
        for parent in parents {
            guard let difference = growth.families[parent]?.count, difference > 0 else { continue }
            let annotations = self.annotations(of: parent, &cache) ?? 0
            if annotations + difference > self.limits.elementAnnotations { return .annotations }
        }
        return nil
    }

    /// The refusal of a change that is beyond a limit: its field is the first element with which it is.
    private mutating func tooLarge(
        _ change: Change, _ limit: RoomLimit, in room: Identifier, _ cache: inout ShardCache
    ) -> Refusal {
        var growth = RoomGrowth()
        var place = 0
        for (index, entry) in change.entries.enumerated() {
            growth.add(entry, former: self.former(entry, &cache))
            place = index
            // Only this element's family has changed.
            let family = entry.parent.map { [$0] } ?? []
            if self.exceeded(by: growth, in: room, families: family, &cache) == limit { break }
        }
        self.count(limit)
        let isList = change.event == .createdMany && change.undone == nil
        var refusal = Refusal(.tooLarge, self.message(limit), field: isList ? "elements[\(place)]" : "element")
        refusal.entry = change.undone?.blocked
        return refusal
    }

    private func message(_ limit: RoomLimit) -> String {
        switch limit {
        case .elements: "A room has at most \(self.limits.roomElements) elements."
        case .bytes: "The elements of a room have at most \(self.limits.roomBytes) bytes."
        case .annotations: "An element has at most \(self.limits.elementAnnotations) annotations."
        case .commit: "A commit changes at most \(self.limits.commitElements) elements."
        }
    }
}

extension Change {
    /// Whether it can create or delete elements or alter their size; commits of geometry are the most frequent ones, and do
    /// so only where they end an animation.
    fileprivate var canResize: Bool {
        switch self.event {
        case .transformed, .transformedMany: self.entries.contains(where: \.changesAnimation)
        default: true
        }
    }
}
