/// A field of an element that only the app understands, kept unchanged.
public struct ExtraField: Sendable {
    /// Its name, unescaped.
    public var name: String
    /// Its value's JSON text.
    public var json: [UInt8]

    /// A field from its name and its value's text, which must be one valid JSON value.
    public init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json
    }

    /// Its size towards the limit, bytes: the value's text and the name as it is stored, in JSON. An escaped control
    /// character counts six bytes.
    var byteCount: Int {
        self.name.utf8.reduce(self.json.count) { size, byte in
            switch byte {
            case 0..<0x20: size + 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): size + 2
            default: size + 1
            }
        }
    }
}

extension ExtraField: Equatable {
    /// Bytewise: names that are canonically equivalent in Unicode are different names.
    public static func == (left: ExtraField, right: ExtraField) -> Bool {
        isSameText(left.name, right.name) && left.json == right.json
    }
}

/// Whether two strings have the same bytes. Swift's own `==` considers canonically equivalent spellings equal.
func isSameText(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
}

/// `isSameText` for strings that may be absent.
func isSameText(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return isSameText(left, right)
}
