/// A text that is compared by its bytes, as the server compares ids: Swift's `String` considers canonically equivalent
/// spellings equal.
package struct TextKey: Hashable, Sendable {
    /// The text.
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: TextKey, right: TextKey) -> Bool {
        // Comparing the strings' UTF-8 views would go through an iterator for each byte.
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in right.withUTF8 { right in left.elementsEqual(right) } }
    }

    package func hash(into hasher: inout Hasher) {
        var text = self.text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Ids, each once, in the order in which they came.
package struct IdSet: Sendable {
    private var order: [TextKey] = []
    private var known: Set<TextKey> = []

    package init() {}

    package var count: Int { self.order.count }

    package mutating func insert(_ id: TextKey) {
        if self.known.insert(id).inserted { self.order.append(id) }
    }

    package mutating func takeAll() -> [TextKey] {
        defer {
            self.order.removeAll(keepingCapacity: true)
            self.known.removeAll(keepingCapacity: true)
        }
        return self.order
    }
}
