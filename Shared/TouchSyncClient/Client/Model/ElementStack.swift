import Canvas
import TouchSyncClientCore

/// Elements as they lie on each other, the lowest first. To replace some costs the same however many there are, as long
/// as none comes, goes, or lies elsewhere afterwards, and nobody keeps `elements`: then all are copied before.
struct ElementStack: Sendable {
    private(set) var elements: [Element] = []
    /// Where in `elements` the one of an id is.
    private var indices: [TextKey: Int] = [:]

    init() {}

    /// - Parameter elements: the lowest first.
    init(_ elements: [Element]) {
        self.elements = elements
        for (index, element) in elements.enumerated() { self.indices[TextKey(element.id)] = index }
    }

    /// Elements that differ from those here.
    struct Changes: Sendable {
        /// Those that are in the places of their former selves.
        fileprivate var replaced: [(index: Int, element: Element)] = []
        /// Those that came, or lie elsewhere.
        fileprivate var placed: [Element] = []
        /// The ids of those that are not where they were.
        fileprivate var removed: Set<TextKey> = []

        var isEmpty: Bool { self.replaced.isEmpty && self.placed.isEmpty && self.removed.isEmpty }
    }

    /// What differs.
    /// - Parameters:
    ///   - ids: of which elements.
    ///   - elements: these as they are now; those that are missing are gone.
    func changes(of ids: Set<TextKey>, to elements: [Element]) -> Changes {
        var changes = Changes(removed: ids.filter { self.indices[$0] != nil })
        for element in elements {
            let index = self.indices[TextKey(element.id)]
            guard let index, self.elements[index].level == element.level else {
                changes.placed.append(element)
                continue
            }
            changes.removed.remove(TextKey(element.id))
            if self.elements[index] != element { changes.replaced.append((index, element)) }
        }
        return changes
    }

    mutating func apply(_ changes: Changes) {
        for (index, element) in changes.replaced { self.elements[index] = element }
        if changes.placed.isEmpty, changes.removed.isEmpty { return }
        let others = self.elements.filter { !changes.removed.contains(TextKey($0.id)) }
        self = ElementStack((others + changes.placed).sorted { $0.isBelow($1) })
    }
}
