/// One value on the tape. A container is followed by its children, an object's children are key, value, key, value.
struct JSONNode {
    var kind: JSONValue.Kind
    /// A string with at least one backslash, or a number spelt without fraction and exponent.
    var flag: Bool
    /// First byte of the value's text; quotes, braces and brackets belong to it.
    var start: UInt32
    /// One past the last byte of the value's text.
    var end: UInt32
    /// Index of the first node behind this value and its children. While a container is open: its parent.
    var next: UInt32
    /// A container's count, a number's bit pattern, a bool's 0 or 1, a key's signature.
    var payload: UInt64

    /// What a value that is not there looks like.
    static let missing = JSONNode(kind: .null, flag: false, start: 0, end: 0, next: 1, payload: 0)
}
