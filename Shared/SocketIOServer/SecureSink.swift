internal import NIOCore
internal import NIOSSL

/// The output of a connection with TLS, in steps that keep the handler's buffers small.
///
/// ``NIOSSLHandler`` encrypts at a flush everything that was written before it, into a buffer that it then keeps at that
/// size: one large room would cost its bytes for as long as the connection lives. Written and unflushed bytes are in
/// no queue of the channel, so they are counted here.
final class SecureSink: ChannelSink {
    private let context: ChannelHandlerContext
    private var unflushedBytes = 0
    /// One record (16 KiB) with what TLS adds, 22 bytes in version 1.3, fits the handler's first buffer.
    static let step = 16_384 - 64

    /// - Parameter context: of the handler that the output belongs to.
    init(_ context: ChannelHandlerContext) {
        self.context = context
    }

    func append(_ buffer: ByteBuffer) {
        var rest = buffer
        while rest.readableBytes > 0 {
            let count = min(rest.readableBytes, Self.step - self.unflushedBytes)
            guard let part = rest.readSlice(length: count) else { return }
            self.context.write(NIOAny(part), promise: nil)
            self.unflushedBytes += count
            if self.unflushedBytes == Self.step { self.flush() }
        }
    }

    func flush() {
        self.unflushedBytes = 0
        self.context.flush()
    }

    var heldBytes: Int { self.context.heldBytes + self.unflushedBytes }
}

/// Copies ciphertext that fills its buffer only in part.
///
/// ``NIOSSLHandler`` passes on its whole buffer (16 KiB), however little it contains. While the socket accepts nothing,
/// each packet would stay in the channel's queue with such a buffer.
final class CiphertextTrimmer: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(self.wrapOutboundOut(self.unwrapOutboundIn(data).trimmed), promise: promise)
    }
}
