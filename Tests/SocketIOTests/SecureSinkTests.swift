import NIOCore
import NIOEmbedded
import Testing

@testable import SocketIOServer

/// What keeps the buffers of the TLS handler small, on channels without TLS.
@Suite struct SecureSinkTests {
    /// Passes its context on.
    private final class Owner: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private(set) var context: ChannelHandlerContext?

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    }

    @Test func outputIsFlushedInSteps() throws {
        let (channel, owner) = (EmbeddedChannel(), Owner())
        try channel.pipeline.syncOperations.addHandler(owner)
        let sink = SecureSink(try #require(owner.context))
        let sent = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        sink.append(ByteBuffer(bytes: sent[..<100]))
        #expect(sink.heldBytes >= 100)
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        sink.append(ByteBuffer(bytes: sent[100...]))
        var (received, unbroken): ([UInt8], Int) = ([], 0)
        while let part = try channel.readOutbound(as: ByteBuffer.self) {
            received += part.readableBytesView
            unbroken = max(unbroken, part.readableBytes)
        }
        // What is left of the last step waits for the flush.
        #expect(received.count == 2 * SecureSink.step && unbroken <= SecureSink.step)
        sink.flush()
        while let part = try channel.readOutbound(as: ByteBuffer.self) { received += part.readableBytesView }
        #expect(received == sent)
        #expect(sink.heldBytes == 0)
        _ = try? channel.finish()
    }

    @Test func bufferThatIsNearlyEmptyIsCopied() throws {
        let channel = EmbeddedChannel(handler: CiphertextTrimmer())
        for count in [100, 16_000] {
            var buffer = ByteBufferAllocator().buffer(capacity: 16_384)
            buffer.writeRepeatingByte(7, count: count)
            try channel.writeOutbound(buffer)
            let written = try #require(try channel.readOutbound(as: ByteBuffer.self))
            #expect(written == buffer)
            #expect(written.storageCapacity < 2 * count)
        }
        _ = try? channel.finish()
    }
}
