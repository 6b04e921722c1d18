#if os(Linux)
    import TLSTestKit
    import Testing

    @testable import TouchSyncClient

    @Suite(.timeLimit(.minutes(1))) struct NIOGetTests {
        /// What comes of the answer that `parts` are, each in a write of its own, before the server closes.
        private func answer(_ parts: String..., limit: Int = 10) async throws -> TransportResponse {
            try await withRawServer { peer in
                _ = try await peer.head()
                for part in parts { try await peer.send(part) }
            } _: { port in
                try await NIOTransport().get("http://127.0.0.1:\(port)/", token: nil, limit: limit)
            }
        }

        private func failure(_ parts: String, limit: Int = 10) async -> String? {
            await transportFailure { _ = try await self.answer(parts, limit: limit) }
        }

        @Test(arguments: [false, true]) func pagesOfTheServer(_ isSecure: Bool) async throws {
            let certificate = try isSecure ? TestCertificate() : nil
            let server = try await EchoServer(certificate)
            var settings = NIOTransportSettings()
            settings.trustRoots = certificate.map { [$0.certificate] } ?? []
            let transport = NIOTransport(settings)
            let base = "\(isSecure ? "https" : "http")://localhost:\(server.port)"
            let page = try await transport.get("\(base)/page?a=b", token: "secret", limit: 1000)
            #expect(page.status == 200)
            #expect(String(decoding: page.body, as: UTF8.self) == "/page Bearer secret")
            let missing = try await transport.get("\(base)/missing", token: nil, limit: 1000)
            #expect(missing.status == 404)
            #expect(String(decoding: missing.body, as: UTF8.self) == "/missing nobody")
        }

        @Test func requestIsTheOnlyOne() async throws {
            let heads = Notes<String>()
            try await withRawServer { peer in
                heads.add(try await peer.head())
                try await peer.send("HTTP/1.1 204 No Content\r\n\r\n")
                await peer.waitForEnd()
            } _: { port in
                #expect(try await NIOTransport().get("http://127.0.0.1:\(port)", token: "a", limit: 0).status == 204)
                let lines = Set(try #require(await heads.next()).split(separator: "\r\n"))
                #expect(
                    lines == [
                        "GET / HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close", "Authorization: Bearer a",
                    ])
            }
        }

        @Test func bodiesInAllForms() async throws {
            let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            #expect(try await self.answer(chunked, "3\r\nabc\r\n", "2\r\nde\r\n0\r\n\r\n").body == Array("abcde".utf8))
            let length = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
            #expect(try await self.answer(length, "01234", "56789").body == Array("0123456789".utf8))
            #expect(try await self.answer("HTTP/1.1 200 OK\r\n\r\n", "to", "end").body == Array("toend".utf8))
            #expect(try await self.answer("HTTP/1.1 100 Continue\r\n\r\n", length, "0123456789").status == 200)
        }

        @Test(arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\nabcde\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n0123456789a",
        ])
        func bodyBeyondTheLimit(_ answer: String) async throws {
            #expect(await self.failure(answer)?.contains("more than 10 bytes") == true)
        }

        @Test(arguments: [
            "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", "HTTP/1.1 200 OK\r\nA: b\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: a\r\n\r\n",
            "nothing\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        ])
        func cutOrWrongAnswerIsAnError(_ answer: String) async throws {
            #expect(await self.failure(answer)?.hasPrefix("another") == false)
        }

        @Test func redirectionsAreNotFollowed() async throws {
            for status in [301, 302, 303, 307, 308] {
                let answer = "HTTP/1.1 \(status) Elsewhere\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
                #expect(await self.failure(answer)?.contains("\(status)") == true)
            }
        }

        @Test func tokenCannotAddHeaders() async throws {
            await #expect(throws: TransportError.self) {
                _ = try await NIOTransport().get("http://127.0.0.1:1/", token: "a\r\nX: b", limit: 10)
            }
        }

        @Test func cancelledWhileTheServerDoesNotAnswer() async throws {
            let (arrived, ended) = (Notes<Void>(), Notes<Void>())
            try await withRawServer { peer in
                _ = try await peer.head()
                try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc")
                arrived.add(())
                await peer.waitForEnd()
                ended.add(())
            } _: { port in
                let task = Task { _ = try await NIOTransport().get("http://127.0.0.1:\(port)/", token: nil, limit: 10) }
                await arrived.next()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                await ended.next()
            }
        }

        @Test func timeLimitEndsIt() async throws {
            var settings = NIOTransportSettings()
            settings.requestTime = .milliseconds(50)
            let transport = NIOTransport(settings)
            try await withRawServer { peer in
                await peer.waitForEnd()
            } _: { port in
                let failure = await transportFailure {
                    _ = try await transport.get("http://127.0.0.1:\(port)/", token: nil, limit: 10)
                }
                #expect(failure?.contains("within 0.05 seconds") == true)
            }
        }
    }
#endif
