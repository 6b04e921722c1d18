internal import NIOCore

/// Sizes a connection's read buffer: small at first, because an idle connection keeps it, doubled after each read that
/// filled it, and halved after two in a row that did not need more.
///
/// Like NIO's adaptive allocator, but two words in size: values larger than three words cost each channel a box.
struct GrowingReadBuffer: RecvByteBufferAllocator {
    /// Fits nearly every event of an app, and the handshakes of apps other than browsers.
    private static let smallest: UInt32 = 256

    private let largest: UInt32
    private var size = Self.smallest
    private var wasHalfEmpty = false

    init(largest: UInt32 = 65_536) {
        self.largest = largest
    }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: Int(self.size))
    }

    func nextBufferSize() -> Int? { Int(self.size) }

    mutating func record(actualReadBytes count: Int) -> Bool {
        let isHalfEmpty = count <= self.size / 2
        if count >= self.size, self.size < self.largest {
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
