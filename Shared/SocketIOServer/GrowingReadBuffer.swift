internal import NIOCore

/// How much a connection reads with one call: little at first, because an idle one keeps its read buffer, twice as much after
/// each read that filled it, and half as much after two in a row that did not need more.
///
/// As NIO's adaptive one, but a word in size: what is larger than three costs each channel a box.
struct GrowingReadBuffer: RecvByteBufferAllocator {
    /// Nearly every event of an app, and the handshakes of apps that are no browsers.
    private static let smallest: UInt32 = 256
    private static let largest: UInt32 = 65_536

    private var size = Self.smallest
    private var wasHalfEmpty = false

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: Int(self.size))
    }

    func nextBufferSize() -> Int? { Int(self.size) }

    mutating func record(actualReadBytes count: Int) -> Bool {
        let isHalfEmpty = count <= self.size / 2
        if count >= self.size, self.size < Self.largest {
            self.size *= 2
            self.wasHalfEmpty = false
            return true
        }
        if isHalfEmpty, self.wasHalfEmpty, self.size > Self.smallest {
            self.size /= 2
            self.wasHalfEmpty = false
        } else {
            self.wasHalfEmpty = isHalfEmpty
        }
        return false
    }
}
