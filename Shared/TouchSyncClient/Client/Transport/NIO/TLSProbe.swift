#if os(Linux)
    import NIOCore
    import NIOSSL
    import NIOTLS

    /// A server closed the connection instead of answering a plain request.
    struct SilentEnd: Error {}

    extension NIOTransport {
        /// Whether a server that answers nothing to plain HTTP speaks TLS. Nothing but the handshake is sent.
        static func speaksTLS(_ url: TransportURL) async -> Bool {
            var configuration = TLSConfiguration.makeClientConfiguration()
            // Whose certificate it is does not matter here.
            configuration.certificateVerification = .none
            guard let tls = try? NIOSSLContext(configuration: configuration) else { return false }
            let attempt = Attempt<Void>()
            let result: Void? = try? await attempt.run {
                attempt.expire(after: .seconds(2), on: Self.group.any(), SilentEnd())
                Self.connect(url, tls, attempt) { channel in
                    try channel.pipeline.syncOperations.addHandler(HandshakeWatch(attempt))
                }
            }
            return result != nil
        }
    }

    /// Ends an attempt with the end of the handshake, and closes the connection.
    private final class HandshakeWatch: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let attempt: Attempt<Void>

        init(_ attempt: Attempt<Void>) { self.attempt = attempt }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted = event as? TLSUserEvent { self.attempt.succeed(()) }
            context.close(promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { self.attempt.fail(error) }
    }
#endif
