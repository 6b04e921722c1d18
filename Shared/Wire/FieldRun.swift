/// Fields of a known greatest length, written one after the other into memory that has room for them all.
///
/// To append field by field asks the array each time whether it has room and is the only owner; records that travel by
/// the thousand write their fields here and append them at once (``ByteWriter/run(upTo:_:)``).
struct FieldRun {
    private let bytes: UnsafeMutableRawBufferPointer
    /// How many bytes were written.
    private(set) var count = 0

    init(into bytes: UnsafeMutableRawBufferPointer) {
        self.bytes = bytes
    }

    /// How many bytes a name takes.
    static func size(of name: Identifier) -> Int {
        2 + min(name.text.utf8.count, Int(UInt16.max))
    }

    /// The next `size` bytes to write to. More than was promised would be a mistake in a record's code.
    @inline(__always)
    private mutating func claim(_ size: Int) -> UnsafeMutableRawBufferPointer {
        precondition(size <= self.bytes.count - self.count, "a record is longer than it promised")
        defer { self.count += size }
        return UnsafeMutableRawBufferPointer(rebasing: self.bytes[self.count..<self.count + size])
    }

    /// An integer, little-endian, in its full width.
    @inline(__always)
    mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
        self.claim(MemoryLayout<T>.size).storeBytes(of: value.littleEndian, as: T.self)
    }

    /// A name, as ``ByteWriter/name(_:)`` writes it.
    @inline(__always)
    mutating func name(_ name: Identifier) {
        name.withBytes { utf8 in
            let count = min(utf8.count, Int(UInt16.max))
            self.integer(UInt16(truncatingIfNeeded: count))
            self.claim(count).copyMemory(from: UnsafeRawBufferPointer(rebasing: utf8[..<count]))
        }
    }
}

extension ByteWriter {
    /// Appends what `fill` writes.
    /// - Parameter capacity: the most that it may write, bytes.
    @inline(__always)
    mutating func run(upTo capacity: Int, _ fill: (inout FieldRun) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) { bytes in
            var run = FieldRun(into: bytes)
            fill(&run)
            self.bytes.append(
                contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<run.count]).assumingMemoryBound(to: UInt8.self))
        }
    }
}
