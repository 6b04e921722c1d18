internal import JSONBytes

/// An externally supplied name (room, element, user, session), compared and hashed byte by byte.
///
/// Swift's `String` compares by canonical equivalence, so two ids that differ only in Unicode normalisation would
/// collide in a dictionary; on the wire and in the database they are different ids.
public struct Identifier: Sendable, Hashable {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static func == (lhs: Identifier, rhs: Identifier) -> Bool {
        isSameText(lhs.text, rhs.text)
    }

    public func hash(into hasher: inout Hasher) {
        self.withBytes { hasher.combine(bytes: $0) }
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
    /// Bytewise order, as in PostgreSQL's collation "C".
    public static func < (lhs: Identifier, rhs: Identifier) -> Bool {
        lhs.withBytes { lhs in
            rhs.withBytes { rhs in
                let index = lhs.firstDifference(to: rhs)
                guard index < lhs.count, index < rhs.count else { return lhs.count < rhs.count }
                return lhs[index] < rhs[index]
            }
        }
    }
}

extension Identifier {
    /// The UTF-8 bytes, in place where they are stored contiguously, as in native strings.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = self.text.utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
            return result
        }
        return Array(self.text.utf8).withUnsafeBytes(body)
    }
}

extension UnsafeRawBufferPointer {
    /// The index of the first byte that differs, or the shorter one's count; compares eight bytes at a time.
    @inline(__always)
    fileprivate func firstDifference(to other: UnsafeRawBufferPointer) -> Int {
        let count = Swift.min(self.count, other.count)
        var index = 0
        while index + 8 <= count {
            let mine = self.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let others = other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if mine != others { return index + (mine ^ others).littleEndian.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index] == other[index] { index += 1 }
        return index
    }
}
