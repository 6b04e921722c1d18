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
        // Every lookup of a daemon ends here, and comparing the views themselves is several times slower.
        let areEqual = lhs.text.utf8.withContiguousStorageIfAvailable { left in
            rhs.text.utf8.withContiguousStorageIfAvailable { right in
                left.count == right.count && left.elementsEqual(right)
            }
        }
        return areEqual.flatMap { $0 } ?? lhs.text.utf8.elementsEqual(rhs.text.utf8)
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
