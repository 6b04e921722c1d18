#if os(Linux)
    import NIOCore
    import TLSTestKit
    import Testing

    @testable import TouchSyncClient

    /// What an open WebSocket does.
    @Suite(.timeLimit(.minutes(1))) struct NIOConnectionTests {
        /// Opens a WebSocket to a server that agrees and goes on with `serve`.
        private func connected(
            _ settings: NIOTransportSettings = NIOTransportSettings(),
            _ serve: @escaping @Sendable (inout RawPeer) async throws -> Void,
            _ body: (any TransportConnection) async throws -> Void
        ) async throws {
            try await withRawServer { peer in
                try await peer.accept()
                try await serve(&peer)
            } _: { port in
                try await body(NIOTransport(settings).open("ws://127.0.0.1:\(port)/"))
            }
        }

        /// The code that the client answers `bytes` with, after which it has closed.
        private func code(
            answering bytes: [UInt8], _ settings: NIOTransportSettings = NIOTransportSettings(),
            after messages: [String] = []
        ) async throws -> Int? {
            let codes = Notes<Int?>()
            var code: Int?
            try await self.connected(settings) { peer in
                try await peer.send(bytes)
                let code = try? await peer.frame().code
                await peer.waitForEnd()
                codes.add(code)
            } _: { connection in
                for message in messages { #expect(await connection.receive() == message) }
                #expect(await connection.receive() == nil)
                #expect(await connection.receive() == nil)
                code = await codes.next() ?? nil
            }
            return code
        }

        // MARK: - Messages

        @Test(arguments: [false, true]) func messagesOfAllSizesComeBackInOrder(_ isSecure: Bool) async throws {
            let certificate = try isSecure ? TestCertificate() : nil
            let server = try await EchoServer(certificate)
            var settings = NIOTransportSettings()
            settings.trustRoots = certificate.map { [$0.certificate] } ?? []
            let connection = try await NIOTransport(settings).open(
                "\(isSecure ? "wss" : "ws")://localhost:\(server.port)/echo")
            let sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 1 << 20, 3]
            let texts = sizes.map { String(repeating: "ä\($0)", count: $0 / 8) + "€" }
            for text in texts {
                connection.send(text)
                try #require(await connection.receive() == text)
            }
            for number in 0..<1000 { connection.send("\(number)") }
            for number in 0..<1000 { try #require(await connection.receive() == "\(number)") }
        }

        @Test func largeRoomComesInOneMessage() async throws {
            let room = String(repeating: "0123456789abcdef", count: 1 << 20)
            try await self.connected { peer in
                try await peer.send(serverText(room))
                await peer.waitForEnd()
            } _: { connection in
                #expect(await connection.receive() == room)
            }
        }

        @Test func framesInTheSamePacketAsTheAnswer() async throws {
            try await withRawServer { peer in
                try await peer.accept(with: serverText("1") + serverText("2") + serverFrame(0x88, []))
                await peer.waitForEnd()
            } _: { port in
                let connection = try await NIOTransport().open("ws://127.0.0.1:\(port)/")
                #expect(await connection.receive() == "1")
                #expect(await connection.receive() == "2")
                #expect(await connection.receive() == nil)
            }
        }

        @Test func fragmentsArePutTogetherAndPingsAnswered() async throws {
            let answers = Notes<RawFrame>()
            try await self.connected { peer in
                let text = Array("ä€😀".utf8)
                try await peer.send(serverFrame(0x01, [text[0]]))
                try await peer.send(serverFrame(0x89, Array("beat".utf8)))
                for byte in text.dropFirst().dropLast() { try await peer.send(serverFrame(0x00, [byte])) }
                try await peer.send(serverFrame(0x80, [text[text.count - 1]]))
                answers.add(try await peer.frame())
            } _: { connection in
                #expect(await connection.receive() == "ä€😀")
                let answer = try #require(await answers.next())
                #expect(answer.first == 0x8A)
                #expect(answer.text == "beat")
            }
        }

        @Test func manySmallFragments() async throws {
            let count = 50_000
            try await self.connected { peer in
                let middle = (0..<1000).flatMap { _ in serverFrame(0x00, [0x61]) }
                try await peer.send(serverFrame(0x01, []))
                for _ in 0..<(count / 1000) { try await peer.send(middle) }
                try await peer.send(serverFrame(0x80, []))
                await peer.waitForEnd()
            } _: { connection in
                #expect(await connection.receive() == String(repeating: "a", count: count))
            }
        }

        @Test func masksDiffer() async throws {
            let masks = Notes<[UInt8]>()
            try await self.connected { peer in
                for _ in 0..<3 { masks.add(try await peer.frame().mask) }
            } _: { connection in
                for _ in 0..<3 { connection.send("") }
                let seen = [await masks.next(), await masks.next(), await masks.next()]
                #expect(Set(seen).count > 1)
            }
        }

        // MARK: - Ends

        @Test func serverThatGoesImmediately() async throws {
            try await withRawServer { peer in
                try await peer.accept()
            } _: { port in
                let connection = try? await NIOTransport().open("ws://127.0.0.1:\(port)/")
                #expect(await connection?.receive() == nil)
            }
        }

        @Test func closeFramesAreAnswered() async throws {
            let close = serverText("last") + serverFrame(0x88, [0x0F, 0xA1, 0x62, 0x79, 0x65]) + serverText("late")
            #expect(try await self.code(answering: close, after: ["last"]) == 4001)
            #expect(try await self.code(answering: serverFrame(0x88, [])) == 1000)
        }

        @Test func mistakesOfTheServerClose() async throws {
            #expect(try await self.code(answering: serverText("a") + serverFrame(0x82, [1]), after: ["a"]) == 1003)
            #expect(try await self.code(answering: [0x81, 0x81, 1, 2, 3, 4, 5]) == 1002)
            #expect(try await self.code(answering: serverFrame(0xC1, [0x61])) == 1002)
            #expect(try await self.code(answering: serverFrame(0x80, [0x61])) == 1002)
            #expect(try await self.code(answering: serverFrame(0x09, [])) == 1002)
            #expect(try await self.code(answering: serverFrame(0x89, [UInt8](repeating: 0, count: 126))) == 1002)
            #expect(try await self.code(answering: serverFrame(0x81, [0xFF])) == 1007)
        }

        @Test func messagesBeyondTheLimitCloseBeforeTheyCome() async throws {
            // A length alone: no byte of the message is ever sent.
            #expect(try await self.code(answering: [0x81, 127, 0, 0, 0, 0, 4, 0, 0, 1]) == 1009)
            #expect(try await self.code(answering: [0x81, 127, 0x7F, 0, 0, 0, 0, 0, 0, 0]) == 1009)
            #expect(try await self.code(answering: [0x81, 127, 0xFF, 0, 0, 0, 0, 0, 0, 0]) == 1009)
            var settings = NIOTransportSettings()
            settings.messageLimit = 200
            settings.fragmentLimit = 3
            let half = [UInt8](repeating: 0x61, count: 100)
            let whole = serverFrame(0x01, half) + serverFrame(0x80, half)
            let text = String(repeating: "a", count: 200)
            #expect(try await self.code(answering: whole + serverFrame(0x88, []), settings, after: [text]) == 1000)
            #expect(try await self.code(answering: whole + [0x81, 126, 0, 201], settings, after: [text]) == 1009)
            let fragments = serverFrame(0x01, half) + serverFrame(0x00, half) + serverFrame(0x80, [0x61])
            #expect(try await self.code(answering: fragments, settings) == 1009)
            let empty = serverFrame(0x01, []) + serverFrame(0x00, []) + serverFrame(0x00, []) + serverFrame(0x00, [])
            #expect(try await self.code(answering: empty, settings) == 1009)
        }

        @Test(arguments: [serverText("a"), serverText("a") + [0x81, 5, 0x61], serverText("a") + [0x01, 1, 0x61]])
        func serverThatGoesWithoutAWord(_ bytes: [UInt8]) async throws {
            try await self.connected { peer in
                _ = try await peer.frame()
                try await peer.send(bytes)
            } _: { connection in
                connection.send("go")
                #expect(await connection.receive() == "a")
                #expect(await connection.receive() == nil)
                connection.send("dropped")
                connection.close()
            }
        }

        @Test func closingSaysGoodbyeBehindWhatWasSent() async throws {
            let frames = Notes<RawFrame?>()
            try await self.connected { peer in
                for _ in 0..<2 { frames.add(try await peer.frame()) }
                await peer.waitForEnd()
                frames.add(nil)
            } _: { connection in
                connection.send("last")
                connection.close()
                connection.close()
                connection.send("dropped")
                #expect(await connection.receive() == nil)
                #expect(await frames.next()??.text == "last")
                #expect(await frames.next()??.code == 1000)
                #expect(await frames.next() == .some(nil))
            }
        }

        @Test func closingEndsAReceiver() async throws {
            try await self.connected { peer in
                await peer.waitForEnd()
            } _: { connection in
                async let message = connection.receive()
                connection.close()
                #expect(await message == nil)
            }
        }

        @Test func cancelledReceiverCloses() async throws {
            let ended = Notes<Void>()
            try await self.connected { peer in
                await peer.waitForEnd()
                ended.add(())
            } _: { connection in
                let task = Task { await connection.receive() }
                task.cancel()
                #expect(await task.value == nil)
                #expect(await connection.receive() == nil)
                await ended.next()
            }
        }

        @Test(arguments: [false, true]) func forgottenConnectionIsClosed(_ isSecure: Bool) async throws {
            let codes = Notes<Int?>()
            let certificate = try isSecure ? TestCertificate() : nil
            var settings = NIOTransportSettings()
            settings.trustRoots = certificate.map { [$0.certificate] } ?? []
            let transport = NIOTransport(settings)
            try await withRawServer(certificate) { peer in
                try await peer.accept()
                codes.add(try? await peer.frame().code)
                await peer.waitForEnd()
                codes.add(0)
            } _: { port in
                weak var forgotten: NIOConnection?
                do {
                    let connection = try await transport.open("\(isSecure ? "wss" : "ws")://localhost:\(port)/")
                    forgotten = connection as? NIOConnection
                    #expect(forgotten != nil)
                }
                #expect(await codes.next() == 1000)
                #expect(await codes.next() == 0)
                #expect(forgotten == nil)
            }
        }

        // MARK: - Flow

        @Test func nothingIsLostWhileNobodyReceives() async throws {
            // Far more than is read ahead.
            let (count, filler) = (400, String(repeating: "x", count: 65_536))
            try await self.connected { peer in
                for number in 0..<count { try await peer.send(serverText("\(number) \(filler)")) }
                await peer.waitForEnd()
            } _: { connection in
                for number in 0..<count { try #require(await connection.receive() == "\(number) \(filler)") }
            }
        }

        @Test func networkThatTakesNothingEndsTheConnection() async throws {
            var settings = NIOTransportSettings()
            settings.sendLimit = 1 << 20
            let done = Notes<Void>()
            try await self.connected(settings) { _ in
                await done.next()
            } _: { connection in
                let text = String(repeating: "x", count: 65_536)
                for _ in 0..<2000 { connection.send(text) }
                #expect(await connection.receive() == nil)
                done.add(())
            }
        }

        @Test func floodOfPingsEndsTheConnectionThatTakesNoAnswers() async throws {
            var settings = NIOTransportSettings()
            settings.sendLimit = 1 << 20
            let pings = (0..<1000).flatMap { _ in serverFrame(0x89, [UInt8](repeating: 1, count: 125)) }
            try await self.connected(settings) { peer in
                while true { try await peer.send(pings) }
            } _: { connection in
                #expect(await connection.receive() == nil)
            }
        }
    }
#endif
