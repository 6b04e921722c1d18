/// Fields of a known maximum size, written one after the other into memory reserved for all of them.
///
/// Appending field by field checks the array's capacity and uniqueness each time. Frequent records write their fields
/// here and append them in one step (``ByteWriter/run(upTo:_:)``).
struct FieldRun {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(into memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    static func size(of name: Identifier) -> Int {
        2 + min(name.text.utf8.count, Int(UInt16.max))
    }

    /// The next `size` bytes to write to. Exceeding the reserved size is a bug in a record's code.
    @inline(__always)
    private mutating func claim(_ size: Int) -> UnsafeMutableRawBufferPointer {
        precondition(size <= self.memory.count - self.count, "a record is longer than it promised")
        defer { self.count += size }
        return UnsafeMutableRawBufferPointer(rebasing: self.memory[self.count..<self.count + size])
    }

    /// An integer, little-endian, in its full width.
    @inline(__always)
    mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
        self.claim(MemoryLayout<T>.size).storeBytes(of: value.littleEndian, as: T.self)
    }

    /// A flag, as ``ByteWriter/bool(_:)`` writes it.
    @inline(__always)
    mutating func bool(_ value: Bool) {
        self.integer(value ? 1 as UInt8 : 0)
    }

    /// Bytes without their length.
    @inline(__always)
    mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        self.claim(bytes.count).copyMemory(from: bytes)
    }

    /// A name, as ``ByteWriter/name(_:)`` writes it.
    @inline(__always)
    mutating func name(_ name: Identifier) {
        name.withBytes { utf8 in
            let count = min(utf8.count, Int(UInt16.max))
            self.integer(UInt16(truncatingIfNeeded: count))
            self.bytes(UnsafeRawBufferPointer(rebasing: utf8[..<count]))
        }
    }
}

extension ByteWriter {
    /// Appends what `fill` writes.
    /// - Parameter capacity: the maximum number of bytes that `fill` writes.
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
