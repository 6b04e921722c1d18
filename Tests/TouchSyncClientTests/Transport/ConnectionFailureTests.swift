#if os(Linux)
    import SocketIO
    import TLSTestKit
    import Testing

    @testable import TouchSyncClient

    /// Why a client is not connected, as servers on loopback let it fail.
    @Suite(.timeLimit(.minutes(1))) struct ConnectionFailureTests {
        /// The first failure of a client of a server.
        /// - Parameter isReachable: a server is told to be unreachable, too, while an attempt takes long on a busy machine.
        private func failure(
            _ url: String, token: SyncClient.TokenProvider? = nil, isReachable: Bool = true
        ) async throws -> ConnectionFailure {
            let client = try SyncClient(url: url, token: token)
            let failures = client.failures
            #expect(await client.lastFailure == nil)
            client.connect()
            let failure = try #require(await failures.first { !isReachable || $0.code != .unreachable })
            #expect(await client.lastFailure?.message.contains("Check ") == true)
            await client.close()
            return failure
        }

        /// The failure that follows from what a server answers to the request for a WebSocket.
        private func failure(answering answer: String) async throws -> ConnectionFailure {
            try await withRawServer { peer in
                _ = try await peer.head()
                try await peer.send(answer)
                await peer.waitForEnd()
            } _: { port in
                try await self.failure("http://127.0.0.1:\(port)")
            }
        }

        private static func answer(_ status: String, _ body: String = "") -> String {
            "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }

        @Test func nobodyListens() async throws {
            let port = RefusedPort()
            let failure = try await self.failure("http://127.0.0.1:\(port.number)")
            #expect(failure.code == .refused && failure.message.contains("127.0.0.1:\(port.number)"))
        }

        @Test func aHostThatDoesNotExist() async throws {
            let failure = try await self.failure("https://name.invalid", isReachable: false)
            #expect(failure.code == .unreachable && failure.message.contains("name.invalid"))
        }

        @Test func plainAndSecureDoNotMeet() async throws {
            let plain = try await EchoServer()
            #expect(try await self.failure("https://localhost:\(plain.port)").code == .tls)
            let secure = try await EchoServer(TestCertificate())
            #expect(try await self.failure("http://localhost:\(secure.port)").code == .tls)
        }

        @Test func aCertificateThatNobodyTrusts() async throws {
            let server = try await EchoServer(TestCertificate())
            let failure = try await self.failure("https://localhost:\(server.port)")
            #expect(failure.code == .tls && failure.message.contains("CERTIFICATE_VERIFY_FAILED"))
        }

        @Test func anotherWebServer() async throws {
            let server = try await EchoServer()
            let failure = try await self.failure("http://127.0.0.1:\(server.port)")
            #expect(failure.code == .notTouchSync && failure.message.contains("200"))
            #expect(try await self.failure(answering: Self.answer("200 OK", "<h1>Hello</h1>")).code == .notTouchSync)
            #expect(try await self.failure(answering: "SSH-2.0-OpenSSH\r\n\r\n").code == .notTouchSync)
        }

        @Test func aServerThatClosesWithoutAWord() async throws {
            let failure = try await withRawServer { peer in
                _ = try await peer.head()
            } _: { port in
                try await self.failure("http://127.0.0.1:\(port)")
            }
            #expect(failure.code == .notTouchSync)
        }

        @Test func aWebSocketThatSaysSomethingElse() async throws {
            let failure = try await withRawServer { peer in
                try await peer.accept(with: serverText("Welcome!"))
                await peer.waitForEnd()
            } _: { port in
                try await self.failure("http://127.0.0.1:\(port)")
            }
            #expect(failure.code == .notTouchSync)
        }

        @Test func whatTheGatewayRefuses() async throws {
            let text = String(
                decoding: EngineError.forbidden.body("Pages of a may not use this server."), as: UTF8.self)
            let origin = try await self.failure(answering: Self.answer("403 Forbidden", text))
            #expect(origin.code == .origin && origin.message.contains("Pages of a may not use this server."))
            let version = String(decoding: EngineError.unsupportedVersion.body(), as: UTF8.self)
            #expect(try await self.failure(answering: Self.answer("400 Bad Request", version)).code == .version)
        }

        @Test(arguments: ["403 Forbidden", "502 Bad Gateway", "503 Service Unavailable"])
        func aProxyThatRefuses(_ status: String) async throws {
            let failure = try await self.failure(answering: Self.answer(status, "No."))
            #expect(failure.code == .refused && failure.message.contains(status.prefix(3)))
        }

        @Test func anAppWithoutAToken() async throws {
            let server = try await EchoServer()
            let client = try SyncClient(url: "http://127.0.0.1:\(server.port)", token: { _ in nil })
            let (states, failures) = (StateList(client), client.failures)
            client.connect()
            #expect(await failures.first { _ in true }?.code == .token)
            await states.skip(to: .expired)
            #expect(await client.state == .expired)
            await client.close()
        }
    }
#endif
