/// Reads little-endian fields from untrusted bytes.
///
/// A read past the end returns zero and marks the reader as failed; a decoder reads all its fields and checks `failed`
/// once at the end. Nothing here traps, and a length from the wire is checked against the available bytes before
/// anything is allocated by it.
public struct ByteReader {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var offset = 0
    /// True once a read went past the end or met an ill-formed field.
    public private(set) var failed = false

    /// Reads the given bytes, which must stay valid while the reader is used.
    public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    public var remaining: Int { self.bytes.count - self.offset }

    public mutating func fail() {
        self.failed = true
        self.offset = self.bytes.count
    }

    public mutating func u8() -> UInt8 {
        self.integer(UInt8.self)
    }

    /// A little-endian integer of the given width.
    public mutating func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T {
        let size = MemoryLayout<T>.size
        guard self.remaining >= size else {
            self.fail()
            return 0
        }
        let value = self.bytes.loadUnaligned(fromByteOffset: self.offset, as: T.self)
        self.offset += size
        return T(littleEndian: value)
    }

    /// A position in an order: the number of an update, a commit or a gesture. At most 2^63 − 1, as PostgreSQL stores it;
    /// a larger one fails, so that whoever adds to one that came over a link cannot overflow.
    public mutating func ordinal() -> UInt64 {
        let value = self.integer(UInt64.self)
        guard value <= UInt64(Int64.max) else {
            self.fail()
            return 0
        }
        return value
    }

    /// A double from its bit pattern. It may be NaN; callers that need a number check it.
    public mutating func double() -> Double {
        Double(bitPattern: self.integer(UInt64.self))
    }

    /// A flag: one byte, 0 or 1; anything else is ill-formed.
    public mutating func bool() -> Bool {
        let value = self.u8()
        if value > 1 { self.fail() }
        return value == 1
    }

    /// A name: u16 length and UTF-8.
    public mutating func name() -> Identifier {
        Identifier(self.text())
    }

    /// A short text: u16 length and UTF-8; ill-formed UTF-8 fails.
    public mutating func text() -> String {
        let count = Int(self.integer(UInt16.self))
        guard let slice = self.bytes(count) else { return "" }
        // Nearly every name is ASCII, and the general path is not specialised: it costs several times as much.
        if slice.isASCII { return String(decoding: slice, as: UTF8.self) }
        guard let text = String(validating: slice, as: UTF8.self) else {
            self.fail()
            return ""
        }
        return text
    }

    /// A run of bytes: u32 length and the bytes, copied.
    public mutating func blob() -> [UInt8] {
        let count = Int(self.integer(UInt32.self))
        guard let slice = self.bytes(count) else { return [] }
        return Array(slice)
    }

    /// A list: u32 count, then each element; ends early when the bytes do.
    public mutating func list<T>(_ decode: (inout ByteReader) -> T) -> [T] {
        let count = Int(self.integer(UInt32.self))
        // Every element has at least one byte, so a larger count is malformed and must not reserve memory.
        guard count <= self.remaining else {
            self.fail()
            return []
        }
        var values: [T] = []
        values.reserveCapacity(min(count, 1024))
        for _ in 0..<count {
            values.append(decode(&self))
            if self.failed { return [] }
        }
        return values
    }

    /// Reads a list that nearly always has one item.
    public mutating func shortList<T>(_ decode: (inout ByteReader) -> T) -> ShortList<T> {
        let count = Int(self.integer(UInt32.self))
        guard count <= self.remaining else {
            self.fail()
            return ShortList()
        }
        var values = ShortList<T>()
        for _ in 0..<count {
            values.append(decode(&self))
            if self.failed { return ShortList() }
        }
        return values
    }

    /// All bytes that are left, copied.
    var rest: [UInt8] { Array(UnsafeRawBufferPointer(rebasing: self.bytes[self.offset...])) }

    /// The next `count` bytes in place, or nil (and failed) when there are fewer.
    public mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count <= self.remaining else {
            self.fail()
            return nil
        }
        let slice = UnsafeRawBufferPointer(rebasing: self.bytes[self.offset..<self.offset + count])
        self.offset += count
        return slice
    }
}

extension UnsafeRawBufferPointer {
    /// True when no byte has its top bit set; looks at eight bytes at a time.
    fileprivate var isASCII: Bool {
        var bits: UInt64 = 0
        var index = 0
        while index + 8 <= self.count {
            bits |= self.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < self.count {
            bits |= UInt64(self[index])
            index += 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }
}
