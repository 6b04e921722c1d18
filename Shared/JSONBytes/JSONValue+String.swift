extension JSONValue {
    /// A string's content, decoded, else nil.
    public var string: String? {
        let node = self.node
        guard node.kind == .string else { return nil }
        return self.withText { text in
            if node.flag { return String(decoding: Array(Self.decoded(node, text)), as: UTF8.self) }
            return String(decoding: UnsafeRawBufferPointer(rebasing: text[node.content]), as: UTF8.self)
        }
    }

    /// Bytes of a string's content in UTF-8, decoded; nil unless it is a string. Nothing is allocated.
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
    /// A string's text without its quotes.
    var content: Range<Int> { Int(self.start) + 1..<Int(self.end) - 1 }
}

/// The UTF-8 of a string without a copy where it is stored as such, which native strings are.
func withUTF8<Result>(_ string: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let result = string.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
        return result
    }
    return Array(string.utf8).withUnsafeBytes(body)
}
