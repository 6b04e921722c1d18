extension JSONValue {
    /// The decoded content of a string, lone surrogates replaced by U+FFFD; nil for anything else.
    public var string: String? {
        let node = self.node
        guard node.kind == .string else { return nil }
        return self.withText { text in
            if node.flag { return String(decoding: Array(Self.decoded(node, text)), as: UTF8.self) }
            return String(decoding: UnsafeRawBufferPointer(rebasing: text[node.content]), as: UTF8.self)
        }
    }

    /// The size of a string's decoded content in UTF-8, bytes; nil for anything else. Does not allocate.
    public var stringByteCount: Int? {
        let node = self.node
        guard node.kind == .string else { return nil }
        guard node.flag else { return node.content.count }
        return self.withText { text in Self.decoded(node, text).reduce(0) { count, _ in count + 1 } }
    }

    /// Whether this is a string whose decoded content is these bytes. Bytewise: no Unicode equivalence.
    public func isString(_ other: StaticString) -> Bool {
        let node = self.node
        guard node.kind == .string, other.hasPointerRepresentation else { return false }
        let wanted = UnsafeRawBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount)
        return self.withText { text in Self.matches(node, text, wanted) }
    }

    /// Whether this is a string whose decoded content is these bytes. Bytewise: no Unicode equivalence.
    public func isString(_ other: String) -> Bool {
        let node = self.node
        guard node.kind == .string else { return false }
        return withUTF8(other) { wanted in self.withText { text in Self.matches(node, text, wanted) } }
    }

    // MARK: -

    func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        self.bytes.withUnsafeBytes(body)
    }

    static func matches(_ node: JSONNode, _ text: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer) -> Bool {
        if node.flag { return Self.decoded(node, text).elementsEqual(wanted) }
        let content = node.content
        guard content.count == wanted.count else { return false }
        var offset = 0
        while offset + 8 <= wanted.count {
            let mine = text.loadUnaligned(fromByteOffset: content.lowerBound + offset, as: UInt64.self)
            guard mine == wanted.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
            offset += 8
        }
        while offset < wanted.count {
            guard text[content.lowerBound + offset] == wanted[offset] else { return false }
            offset += 1
        }
        return true
    }

    private static func decoded(_ node: JSONNode, _ text: UnsafeRawBufferPointer) -> EscapedBytes {
        EscapedBytes(text: text, start: node.content.lowerBound, end: node.content.upperBound)
    }
}

extension JSONNode {
    /// False for a string whose decoded content has certainly another length; one with escapes may have any.
    @inline(__always)
    func mayHave(byteCount: Int) -> Bool { self.flag || Int(self.end) &- Int(self.start) &- 2 == byteCount }

    /// The range of a string's text without its quotes.
    var content: Range<Int> { Int(self.start) + 1..<Int(self.end) - 1 }
}

/// The UTF-8 of a string, without a copy where it is stored contiguously, as in native strings.
func withUTF8<Result>(_ string: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let result = string.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
        return result
    }
    return Array(string.utf8).withUnsafeBytes(body)
}

/// Whether two strings have the same bytes. Swift's own `==` considers canonically equivalent spellings equal.
@inlinable
public func isSameText(_ left: String, _ right: String) -> Bool {
    // Texts compare fastest, and are equal whenever their bytes are. The reverse holds for ASCII, where UTF-8 and UTF-16
    // have the same length.
    let count = left.utf8.count
    guard count == right.utf8.count, left == right else { return false }
    return count == left.utf16.count || left.utf8.elementsEqual(right.utf8)
}
