/// A name that came from outside (room, element, user, session), compared and hashed byte by byte.
///
/// Swift's `String` compares by canonical equivalence, so two ids that differ only in Unicode normalisation would
/// fall together in a dictionary; on the wire and in the database they are different ids.
public struct Identifier: Sendable, Hashable {
    /// The name as text.
    public let text: String

    /// Wraps a text as it is.
    public init(_ text: String) {
        self.text = text
    }

    /// True when both names have the same UTF-8 bytes.
    public static func == (lhs: Identifier, rhs: Identifier) -> Bool {
        // Every lookup of a daemon ends here. Texts compare fastest, and are equal whenever their bytes are; the
        // reverse holds for ASCII, which nearly all names are, and where UTF-8 and UTF-16 are of one length.
        guard lhs.text == rhs.text else { return false }
        let count = lhs.text.utf8.count
        return (count == rhs.text.utf8.count && count == lhs.text.utf16.count)
            || lhs.text.utf8.elementsEqual(rhs.text.utf8)
    }

    /// Hashes the UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        var text = self.text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// True for the empty name, which stands for "none" on the wire.
    public var isEmpty: Bool { self.text.isEmpty }
}

extension Identifier: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) {
        self.init(value)
    }

    public var description: String { self.text }
}

extension Identifier: Comparable {
    /// Bytewise order, as PostgreSQL's collation "C" has it.
    public static func < (lhs: Identifier, rhs: Identifier) -> Bool {
        lhs.text.utf8.lexicographicallyPrecedes(rhs.text.utf8)
    }
}
