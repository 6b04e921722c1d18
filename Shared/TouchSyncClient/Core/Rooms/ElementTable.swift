package import Canvas

/// Elements by their ids, in the order in which they came.
package struct ElementTable: Sendable {
    private struct Entry: Sendable {
        /// Elements that came earlier have smaller ones.
        var rank: Int
        var element: Element
    }

    private var entries: [TextKey: Entry] = [:]
    private var lastRank = 0
    /// The ids of all elements as these lie on each other, if their order is kept.
    private var stack: [TextKey]?

    init() {}

    init(_ elements: [Element]) {
        for element in elements { self[TextKey(element.id)] = element }
    }

    /// An element. One that is replaced keeps its place in the order.
    package subscript(id: TextKey) -> Element? {
        get { self.entries[id]?.element }
        set {
            if self.entries[id]?.element.level != newValue?.level { self.stack = nil }
            guard let newValue else {
                self.entries[id] = nil
                return
            }
            if self.entries[id] == nil { self.lastRank += 1 }
            self.entries[id, default: Entry(rank: self.lastRank, element: newValue)].element = newValue
        }
    }

    package var count: Int { self.entries.count }

    /// The ids in the order in which the elements came.
    var ids: [TextKey] { self.entries.sorted { $0.value.rank < $1.value.rank }.map(\.key) }

    /// All elements in no particular order.
    var all: some Sequence<Element> { self.entries.values.lazy.map(\.element) }

    /// All elements as they lie on each other, the lowest first. They are sorted unless their order is kept.
    var stacked: [Element] {
        guard let stack else { return self.all.sorted { $0.isBelow($1) } }
        return stack.compactMap { self[$0] }
    }

    /// Keeps the order until an element comes, goes, or changes its level.
    /// - Returns: the ids of all elements as these lie on each other, the lowest first.
    mutating func keepOrder() -> [TextKey] {
        let ids = self.stack ?? self.entries.sorted { $0.value.element.isBelow($1.value.element) }.map(\.key)
        self.stack = ids
        return ids
    }
}
