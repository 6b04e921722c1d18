import Canvas
import Wire

/// How a change alters what its room holds.
struct RoomGrowth {
    /// The difference in elements and their bytes.
    private(set) var totals = RoomTotals()
    /// The difference in the annotations of each element that gets or loses some.
    private(set) var annotations: [ElementKey: Int] = [:]

    /// Adds one element of a change.
    /// - Parameter former: the element before the change; nil when it was not living.
    mutating func add(_ entry: Change.Entry, former: Element?) {
        let element = entry.written.element
        let step = entry.isDeleted ? -1 : former == nil ? 1 : 0
        self.totals.elements += step
        self.totals.bytes += (entry.isDeleted ? 0 : element.storedBytes) - (former?.storedBytes ?? 0)
        guard step != 0, let parent = element.parentId else { return }
        self.annotations[ElementKey(entry.key.room, Identifier(parent)), default: 0] += step
    }
}

/// A limit of what a room holds, or of what one commit changes.
enum RoomLimit {
    case elements, bytes, annotations, commit
}

extension BatchDraft {
    /// How a change would alter its room, if the limits allow it. Only growth is refused: in a room beyond a limit,
    /// elements can be changed as long as they get no larger, and deleted.
    /// - Throws: a refusal naming the limit and the first element beyond it.
    mutating func growth(
        of change: Change, in room: Identifier, _ cache: inout ShardCache
    ) throws(Refusal) -> RoomGrowth {
        if change.entries.count > self.limits.commitElements { throw self.tooManyChanges() }
        var growth = RoomGrowth()
        guard change.canResize else { return growth }
        for entry in change.entries { growth.add(entry, former: self.former(entry, &cache)) }
        if let limit = self.exceeded(by: growth, in: room, &cache) {
            throw self.tooLarge(change, limit, in: room, &cache)
        }
        return growth
    }

    /// A refusal of a commit that changes too many elements.
    /// - Parameter field: the place of the elements in the app's payload.
    mutating func tooManyChanges(field: String = "element") -> Refusal {
        self.count(.commit)
        return Refusal(
            .tooLarge,
            "A commit changes at most \(self.limits.commitElements) elements, the annotations of deleted ones included.",
            field: field)
    }

    private mutating func former(_ entry: Change.Entry, _ cache: inout ShardCache) -> Element? {
        guard entry.before != nil, case .live(let live) = self.state(entry.key, &cache) else { return nil }
        return live.element
    }

    /// The limit that a room would be beyond; nil when it is within all of them, or does not grow.
    private mutating func exceeded(
        by growth: RoomGrowth, in room: Identifier, _ cache: inout ShardCache
    ) -> RoomLimit? {
        let totals = self.storedRoom(room, &cache).totals + growth.totals
        if growth.totals.elements > 0, totals.elements > self.limits.roomElements { return .elements }
        if growth.totals.bytes > 0, totals.bytes > self.limits.roomBytes { return .bytes }
        for (parent, difference) in growth.annotations where difference > 0 {
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
            if self.exceeded(by: growth, in: room, &cache) == limit { break }
        }
        self.count(limit)
        let isList = change.event == .createdMany && change.undone == nil
        return Refusal(.tooLarge, self.message(limit), field: isList ? "elements[\(place)]" : "element")
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
    /// Whether it can create or delete elements or alter their size; commits of geometry are the most frequent ones.
    fileprivate var canResize: Bool {
        switch self.event {
        case .transformed, .transformedMany: false
        default: true
        }
    }
}
