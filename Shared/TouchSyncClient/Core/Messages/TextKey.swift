/// A text that is compared by its bytes, as the server compares ids: Swift's `String` considers canonically equivalent
/// spellings equal.
struct TextKey: Hashable, Sendable {
    /// The text.
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: TextKey, right: TextKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = self.text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
