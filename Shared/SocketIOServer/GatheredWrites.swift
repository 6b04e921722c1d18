internal import NIOCore

/// The buffers that a turn of the loop wrote to one connection, in order, to be passed to the kernel together: a write
/// costs far more than its bytes.
struct GatheredWrites {
    private static let bound = 1 << 16

    private var buffers: [ByteBuffer] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { self.buffers.isEmpty }

    /// Appends a buffer, which may be shared; false when that would exceed the bound.
    mutating func append(_ buffer: ByteBuffer) -> Bool {
        guard self.byteCount + buffer.readableBytes <= Self.bound else { return false }
        self.byteCount += buffer.readableBytes
        self.buffers.append(buffer)
        return true
    }

    /// Removes all buffers and returns them as one; several are copied into `storage`.
    mutating func removeAll(joinedIn storage: inout ByteBuffer) -> ByteBuffer {
        defer { self = GatheredWrites() }
        if self.buffers.count == 1 { return self.buffers[0] }
        storage.clear(minimumCapacity: self.byteCount)
        for buffer in self.buffers { storage.writeImmutableBuffer(buffer) }
        return storage
    }
}
