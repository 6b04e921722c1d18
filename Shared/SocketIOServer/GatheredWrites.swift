internal import NIOCore

/// What one turn of the loop has for a connection, in order, so that the kernel gets it in one piece: a write costs far
/// more than the bytes in it.
struct GatheredWrites {
    /// More than this is the channel's business.
    private static let bound = 1 << 16

    private var buffers: [ByteBuffer] = []
    /// Bytes of all of them.
    private(set) var byteCount = 0

    var isEmpty: Bool { self.buffers.isEmpty }

    /// Takes a buffer, which may be shared, at the end.
    /// - Returns: false when that would be too much.
    mutating func append(_ buffer: ByteBuffer) -> Bool {
        guard self.byteCount + buffer.readableBytes <= Self.bound else { return false }
        self.byteCount += buffer.readableBytes
        self.buffers.append(buffer)
        return true
    }

    /// Everything as one buffer; several are copied together into `storage`. Nothing is left.
    mutating func take(with storage: inout ByteBuffer) -> ByteBuffer {
        defer { self = GatheredWrites() }
        if self.buffers.count == 1 { return self.buffers[0] }
        storage.clear(minimumCapacity: self.byteCount)
        for buffer in self.buffers { storage.writeImmutableBuffer(buffer) }
        return storage
    }
}
