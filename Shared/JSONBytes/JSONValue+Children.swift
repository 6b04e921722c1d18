extension JSONValue {
    /// The member of that name, compared bytewise on decoded keys; nil if there is none or this is not an object.
    public subscript(_ key: String) -> JSONValue? {
        withUTF8(key) { self.member($0) }
    }

    /// The same for a name of a protocol.
    public subscript(_ key: StaticString) -> JSONValue? {
        key.hasPointerRepresentation
            ? self.member(UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)) : nil
    }

    private func member(_ wanted: UnsafeRawBufferPointer) -> JSONValue? {
        let node = self.node
        guard node.kind == .object else { return nil }
        let found = self.withText { text in
            self.nodes.withUnsafeBufferPointer { nodes -> Int? in
                var index = self.index + 1
                for _ in 0..<node.payload {
                    // Most keys differ in length already.
                    if nodes[index].mayHave(byteCount: wanted.count), Self.matches(nodes[index], text, wanted) {
                        return index + 1
                    }
                    index = Int(nodes[index + 1].next)
                }
                return nil
            }
        }
        return found.map { JSONValue(bytes: self.bytes, nodes: self.nodes, index: $0) }
    }

    /// An object's members in the order of the text; empty for anything else.
    public var members: Members { Members(object: self, left: self.kind == .object ? self.count : 0) }

    /// An array's elements; empty for anything else.
    public var elements: Elements { Elements(array: self, left: self.kind == .array ? self.count : 0) }

    /// The members of an object, one at a time.
    public struct Members: Sequence, IteratorProtocol, Sendable {
        private let object: JSONValue
        private var index: Int
        private var left: Int

        init(object: JSONValue, left: Int) {
            self.object = object
            self.index = object.index + 1
            self.left = left
        }

        /// The next key, which is a string value, and its value.
        public mutating func next() -> (key: JSONValue, value: JSONValue)? {
            guard self.left > 0 else { return nil }
            self.left -= 1
            let nodes = self.object.nodes
            let bytes = self.object.bytes
            let key = JSONValue(bytes: bytes, nodes: nodes, index: self.index)
            let value = JSONValue(bytes: bytes, nodes: nodes, index: self.index + 1)
            self.index = Int(nodes[self.index + 1].next)
            return (key, value)
        }

        public var underestimatedCount: Int { self.left }
    }

    /// The elements of an array, one at a time.
    public struct Elements: Sequence, IteratorProtocol, Sendable {
        private let array: JSONValue
        private var index: Int
        private var left: Int

        init(array: JSONValue, left: Int) {
            self.array = array
            self.index = array.index + 1
            self.left = left
        }

        public mutating func next() -> JSONValue? {
            guard self.left > 0 else { return nil }
            self.left -= 1
            let value = JSONValue(bytes: self.array.bytes, nodes: self.array.nodes, index: self.index)
            self.index = Int(value.nodes[self.index].next)
            return value
        }

        public var underestimatedCount: Int { self.left }
    }
}

extension JSONValue {
    /// The path from this value to the innermost value in it that contains a byte of the document, or whose key does:
    /// `elements[3].content`. A long path ends at the last value that fits into 128 bytes. In keys, what cannot be stored
    /// as text is replaced by U+FFFD.
    /// - Parameters:
    ///   - offset: a position in the parsed text, such as ``JSONError/offset``.
    ///   - name: what this value is called, the beginning of the path; empty if it has no name.
    /// - Returns: nil when the byte is not in this value.
    public func path(toByte offset: Int, from name: String = "") -> String? {
        guard self.node.start <= offset, offset < self.node.end else { return nil }
        var path = name
        var value = self
        while let (step, child) = value.child(at: offset) {
            let next = path + (path.isEmpty && step.hasPrefix(".") ? String(step.dropFirst()) : step)
            guard next.utf8.count <= 128 else { break }
            path = next
            value = child
        }
        return path
    }

    /// The member or element that contains a byte, and the step to it: `.key` or `[3]`.
    private func child(at offset: Int) -> (step: String, value: JSONValue)? {
        let isObject = self.kind == .object
        var index = self.index + 1
        for position in 0..<self.count {
            let valueIndex = isObject ? index + 1 : index
            if offset < self.nodes[valueIndex].end {
                guard offset >= self.nodes[index].start else { return nil }
                let step = isObject ? "." + self.value(at: index).storableText : "[\(position)]"
                return (step, self.value(at: valueIndex))
            }
            index = Int(self.nodes[valueIndex].next)
        }
        return nil
    }

    private func value(at index: Int) -> JSONValue { JSONValue(bytes: self.bytes, nodes: self.nodes, index: index) }

    private var storableText: String {
        String(String.UnicodeScalarView((self.string ?? "").unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}
