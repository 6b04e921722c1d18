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
