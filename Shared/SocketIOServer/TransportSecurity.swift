internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// TLS of a server's port, and of its connections to neighbours. Used on the loop only.
///
/// ```
/// socket <- CiphertextTrimmer <- NIOSSLHandler <- PeerHandler or RelayLink
/// ```
/// **Neighbours** share one certificate. A neighbour is who proves to own our own certificate, or the one that we had
/// before it, while all of them change to another. Its name and issuer do not matter: neighbours go by addresses that
/// no certificate lists, and an issuer would vouch for others, too.
struct TransportSecurity {
    private var identity: TLSIdentity
    /// The certificate that was replaced last.
    private var former: NIOSSLCertificate?
    /// What a connection may need during its handshake, bytes: the largest message that BoringSSL accepts from a client
    /// (16 KiB), the buffers of ``NIOSSLHandler`` (48 KiB), and its state.
    static let handshakeBytes = 80 << 10

    init(_ identity: TLSIdentity) {
        self.identity = identity
    }

    /// Connections from here on get another certificate.
    mutating func replace(with identity: TLSIdentity) {
        guard identity != self.identity else { return }
        if identity.chain[0] != self.identity.chain[0] { self.former = self.identity.chain[0] }
        self.identity = identity
    }

    /// Begins the handshake with a client, between the socket and the connection's handler.
    func secure(_ context: ChannelHandlerContext) throws {
        try context.pipeline.syncOperations.addHandlers(
            [CiphertextTrimmer(), NIOSSLServerHandler(context: self.identity.serverContext)],
            position: .before(context.handler))
    }

    /// The handlers of a connection to a neighbour, which stand before its own.
    func neighbourHandlers() throws -> [any ChannelHandler] {
        let trusted = [self.identity.chain[0], self.former]
        let handler = try NIOSSLClientHandler(context: self.identity.clientContext, serverHostname: nil) {
            presented, verdict in
            verdict.succeed(
                trusted.contains(presented.first) && presented.first != nil ? .certificateVerified : .failed)
        }
        return [CiphertextTrimmer(), handler]
    }
}

// MARK: - Input

extension TransportSecurity {
    /// Lets connections read at most one record (16 KiB) in a turn: ``NIOSSLHandler`` decrypts everything that was read
    /// in a turn into one buffer, which it then keeps at that size.
    static func readingLittle(_ bootstrap: ServerBootstrap) -> ServerBootstrap {
        bootstrap.childChannelOption(.recvAllocator, value: GrowingReadBuffer(largest: 16_384))
            .childChannelOption(.maxMessagesPerRead, value: 1)
    }
}

// MARK: - Closing

extension ChannelHandlerContext {
    /// Closes the socket immediately. Under TLS `close` would first wait for the peer's farewell.
    func closeSocket() {
        let secured = try? self.pipeline.syncOperations.context(handlerType: NIOSSLHandler.self)
        (secured ?? self).close(promise: nil)
    }
}

/// Whether an error only says that a peer closed its socket without a farewell of TLS. Most do; nothing can be cut off
/// unnoticed by that, as requests, answers and frames have lengths.
func isUncleanShutdown(_ error: any Error) -> Bool {
    if case .uncleanShutdown? = error as? NIOSSLError { true } else { false }
}

// MARK: - Output

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
