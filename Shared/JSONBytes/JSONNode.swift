/// One value on the tape. A container is followed by its children, an object's children are key, value, key, value.
struct JSONNode {
    var kind: JSONValue.Kind
    /// Set for a string with at least one backslash, and for a number without fraction and exponent.
    var flag: Bool
    /// The first byte of the value's text, including quotes, braces and brackets.
    var start: UInt32
    /// One past the last byte of the value's text.
    var end: UInt32
    /// The index of the first node after this value and its children. While a container is open: its parent.
    var next: UInt32
    /// A container's count, a number's bit pattern, a bool's 0 or 1, a key's signature.
    var payload: UInt64

    /// The node of a missing value.
    static let missing = JSONNode(kind: .null, flag: false, start: 0, end: 0, next: 1, payload: 0)
}
