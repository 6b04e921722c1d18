import NIOCore
import Testing

@testable import SocketIOServer

@Suite("Read buffers grow and shrink")
struct GrowingReadBufferTests {
    /// The sizes after reads of so many bytes.
    private func sizes(after reads: [Int]) -> [Int?] {
        var buffer = GrowingReadBuffer()
        return reads.map { count in
            let before = buffer.nextBufferSize()
            let mayGrow = buffer.record(actualReadBytes: count)
            #expect(mayGrow == (before.map { size in buffer.nextBufferSize().map { $0 > size } } == true))
            return buffer.nextBufferSize()
        }
    }

    @Test func aSmallOneAtFirstWithRoomForAsMuch() {
        #expect(GrowingReadBuffer().nextBufferSize() == 256)
        #expect(GrowingReadBuffer().buffer(allocator: ByteBufferAllocator()).writableBytes >= 256)
        // NIO holds it as a protocol's value, which takes three words without a box.
        #expect(MemoryLayout<GrowingReadBuffer>.size <= 3 * MemoryLayout<Int>.size)
    }

    @Test func twiceAsMuchAfterEachReadThatFilledItUpTo64KiB() {
        #expect(self.sizes(after: [255, 256, 600, 1024]) == [256, 512, 1024, 2048])
        #expect(self.sizes(after: (0..<12).map { 256 << $0 }).suffix(5) == [65_536, 65_536, 65_536, 65_536, 65_536])
    }

    @Test("half as much after two reads in a row that needed no more, down to the first size")
    func shrinks() {
        #expect(
            self.sizes(after: [256, 512, 100, 100, 100, 100, 100, 100]) == [512, 1024, 1024, 512, 512, 256, 256, 256])
        #expect(self.sizes(after: [256, 512, 100, 600, 100, 100]) == [512, 1024, 1024, 1024, 1024, 512])
    }
}
