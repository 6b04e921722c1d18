internal import NIOCore

extension ByteBuffer {
    /// The same bytes, copied if most of its storage is something else. What waits in a channel's queue keeps its storage,
    /// and limits count bytes.
    var trimmed: ByteBuffer {
        guard self.storageCapacity > 2 * self.readableBytes + 256 else { return self }
        var copy = ByteBufferAllocator().buffer(capacity: self.readableBytes)
        copy.writeImmutableBuffer(self)
        return copy
    }
}
