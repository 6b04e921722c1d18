#if os(Linux)
    import NIOCore
    import NIOEmbedded
    import Testing

    @testable import TouchSyncClient

    /// When the WebSocket's handlers are in place.
    @Suite(.timeLimit(.minutes(1))) struct UpgradeHandlerTests {
        @Test func nothingIsLostBetweenTheAnswerAndTheEnd() async throws {
            let attempt = Attempt<NIOConnection>()
            let connection = try await attempt.run {
                do { try Self.serve(attempt, serverText("1") + serverText("2")) } catch { attempt.fail(error) }
            }
            #expect(await connection.receive() == "1")
            #expect(await connection.receive() == "2")
            #expect(await connection.receive() == nil)
        }

        /// Agrees with `bytes` in the same packet, and ends the connection before the event loop does anything else.
        private static func serve(_ attempt: Attempt<NIOConnection>, _ bytes: [UInt8]) throws {
            let channel = EmbeddedChannel()
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try NIOTransport().upgrade(channel, TransportURL("ws://127.0.0.1/", .webSocket), attempt)
            let request = try #require(try channel.readOutbound(as: ByteBuffer.self))
            let agreement = try #require(RawPeer.agreement(to: String(buffer: request)))
            try channel.writeInbound(ByteBuffer(bytes: Array(agreement.utf8) + bytes))
            _ = try channel.finish()
        }
    }
#endif
