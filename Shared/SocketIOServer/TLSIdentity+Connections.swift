internal import NIOCore
internal import NIOPosix
internal import NIOSSL

extension TLSIdentity {
    /// What a connection may need during its handshake, bytes: the largest message that BoringSSL accepts from a client
    /// (16 KiB), the buffers of ``NIOSSLHandler`` (48 KiB), and its state.
    static let handshakeBytes = 80 << 10

    /// Begins the handshake with a client, between the socket and the connection's handler.
    ///
    /// ```
    /// socket <- CiphertextTrimmer <- NIOSSLHandler <- PeerHandler
    /// ```
    func secure(_ context: ChannelHandlerContext) throws {
        try context.pipeline.syncOperations.addHandlers(
            [CiphertextTrimmer(), NIOSSLServerHandler(context: self.context)], position: .before(context.handler))
    }
}

// MARK: - Input

extension ServerBootstrap {
    /// Lets connections read at most one record (16 KiB) in a turn: ``NIOSSLHandler`` decrypts everything that was read
    /// in a turn into one buffer, which it then keeps at that size.
    func readingLittle() -> ServerBootstrap {
        self.childChannelOption(.recvAllocator, value: GrowingReadBuffer(largest: 16_384))
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
