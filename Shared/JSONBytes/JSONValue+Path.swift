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
