/// The maximum number of messages that a link delivers per turn, so that no peer and no link starves another.
let messagesPerTurn = 256

/// A short queue of events that reuses its storage.
struct EventQueue<Element> {
    private var elements: [Element] = []
    private var head = 0

    var isEmpty: Bool { self.head == self.elements.count }

    mutating func append(_ element: Element) { self.elements.append(element) }

    mutating func pop() -> Element? {
        guard self.head < self.elements.count else { return nil }
        let element = self.elements[self.head]
        self.head += 1
        if self.head == self.elements.count { self.removeAll() }
        return element
    }

    mutating func removeAll() {
        self.elements.removeAll(keepingCapacity: true)
        self.head = 0
    }
}
