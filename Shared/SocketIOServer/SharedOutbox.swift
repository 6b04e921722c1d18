internal import NIOCore

/// Storage in which the connections of a loop encode small packets one after the other, so that they leave in one
/// write. It contains bytes of one connection at a time.
struct SharedOutbox {
    private var buffer = ByteBufferAllocator().buffer(capacity: 4096)
    private var owner: ConnectionOutput?
    /// Storage to join several buffers of one connection.
    private var joined = ByteBuffer()

    /// Encodes with `body` for a connection; false when the storage is in use for another one.
    mutating func encode(for output: ConnectionOutput, _ body: (inout ByteBuffer) -> Void) -> Bool {
        if let owner = self.owner {
            guard owner === output else { return false }
        } else {
            self.clear()
            self.owner = output
        }
        body(&self.buffer)
        return true
    }

    private mutating func clear() {
        if self.buffer.capacity > 1 << 16 {
            self.buffer = ByteBufferAllocator().buffer(capacity: 4096)
        } else {
            self.buffer.clear()
        }
    }

    func byteCount(of output: ConnectionOutput) -> Int { self.owner === output ? self.buffer.readableBytes : 0 }

    mutating func remove(for output: ConnectionOutput) -> ByteBuffer? {
        guard self.owner === output else { return nil }
        self.owner = nil
        return self.buffer.readableBytes > 0 ? self.buffer : nil
    }

    mutating func join(_ gathered: inout GatheredWrites) -> ByteBuffer { gathered.removeAll(joinedIn: &self.joined) }
}
