/// Appends little-endian fields to a byte array that is reused.
public struct ByteWriter: Sendable {
    public var bytes: [UInt8] = []

    public init(reserving capacity: Int = 0) {
        self.bytes.reserveCapacity(capacity)
    }

    @inlinable
    public mutating func u8(_ value: UInt8) {
        self.bytes.append(value)
    }

    /// Appends an integer, little-endian, in its full width.
    @inlinable
    public mutating func integer<T: FixedWidthInteger>(_ value: T) {
        // Appending raw bytes would append them one by one.
        withUnsafeBytes(of: value.littleEndian) {
            self.bytes.append(contentsOf: $0.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Appends a double as its IEEE 754 bit pattern.
    @inlinable
    public mutating func double(_ value: Double) {
        self.integer(value.bitPattern)
    }

    /// Appends a flag as one byte, 0 or 1.
    @inlinable
    public mutating func bool(_ value: Bool) {
        self.u8(value ? 1 : 0)
    }

    /// Puts an integer in the place of bytes that were written already.
    mutating func patch<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
        self.bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
        }
    }

    /// Appends a name: its length in bytes (u16), then its UTF-8. A name longer than 65,535 bytes is truncated; the
    /// gateway accepts none of that length.
    public mutating func name(_ value: Identifier) {
        self.text(value.text)
    }

    /// Appends a short text: its length in bytes (u16), then its UTF-8, truncated at 65,535 bytes.
    public mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            let count = min(utf8.count, Int(UInt16.max))
            self.integer(UInt16(truncatingIfNeeded: count))
            self.bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[..<count]))
        }
    }

    /// Appends a run of bytes: its length (u32), then the bytes.
    public mutating func blob(_ value: some Collection<UInt8>) {
        self.integer(UInt32(truncatingIfNeeded: value.count))
        self.bytes.append(contentsOf: value)
    }

    /// Appends a list: its count (u32), then each element.
    public mutating func list<T>(_ values: some Collection<T>, _ encode: (T, inout ByteWriter) -> Void) {
        self.integer(UInt32(truncatingIfNeeded: values.count))
        for value in values {
            encode(value, &self)
        }
    }
}
