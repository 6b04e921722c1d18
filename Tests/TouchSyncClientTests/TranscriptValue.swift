import JSONBytes

/// JSON as transcripts compare it: the order of fields means nothing.
enum TranscriptValue {
    static func parsed(_ text: some Collection<UInt8>) -> JSONValue? {
        var document = JSONDocument()
        do { try document.parse(text) } catch { return nil }
        return document.root
    }

    static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        guard left.kind == right.kind, left.count == right.count else { return false }
        switch left.kind {
        case .object:
            return left.members.allSatisfy { key, value in
                right[key.string ?? ""].map { Self.isSame(value, $0) } ?? false
            }
        case .array: return zip(left.elements, right.elements).allSatisfy(Self.isSame)
        case .string: return left.string.map { right.isString($0) } ?? false
        case .number: return left.double == right.double
        case .bool: return left.bool == right.bool
        case .null: return true
        }
    }

    /// Whether two outputs are the same: their heads (`send 421`) as text, what follows as JSON if it is any.
    static func isSameOutput(_ left: String, _ right: String) -> Bool {
        let (leftHead, leftJSON) = Self.split(left)
        let (rightHead, rightJSON) = Self.split(right)
        guard leftHead == rightHead else { return false }
        if leftJSON == rightJSON { return true }
        guard let left = Self.parsed(leftJSON.utf8), let right = Self.parsed(rightJSON.utf8) else { return false }
        return Self.isSame(left, right)
    }

    /// The type of an output with a packet's type and number, and what follows.
    private static func split(_ output: String) -> (head: Substring, json: Substring) {
        var end = output.firstIndex(of: " ").map(output.index(after:)) ?? output.endIndex
        if output[end...].first == "4" {
            end = output[end...].firstIndex { !$0.isASCII || !$0.isNumber } ?? output.endIndex
        }
        return (output[..<end], output[end...])
    }
}
