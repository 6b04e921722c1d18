import SocketIO
import SocketIOServer
import Testing

@Suite struct WebSocketShellTests {
    @Test func handshakeByteByByteWithFramesGluedToIt() throws {
        let fixture = try ServerFixture()
        let slow = try fixture.client()
        for byte in bytes(RawClient.upgrade("/echo")) { slow.send([byte]) }
        let response = try slow.response()
        #expect(response.head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
        #expect(!response.head.contains("Extensions"))
        for byte in clientText("one") { slow.send([byte]) }
        #expect(try slow.message() == "one")

        let glued = try fixture.client()
        glued.send(bytes(RawClient.upgrade("/echo")) + clientText("a") + clientText("b"))
        #expect(try glued.response().status == 101)
        #expect(try glued.message() == "a")
        #expect(try glued.message() == "b")
    }

    @Test func violationsHaveTheirCodes() throws {
        let fixture = try ServerFixture()
        let cases: [(String, [UInt8], Int)] = [
            ("unmasked", clientFrame(bytes("4x"), isMasked: false), 1002),
            ("RSV", clientFrame(bytes("4x"), first: 0xC1), 1002), ("opcode", clientFrame([], first: 0x83), 1002),
            ("2^63", [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], 1009),
            ("2^62", [0x81, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0, 1], 1009),
            ("too long", clientFrame(Array(repeating: 52, count: 65_537)), 1009),
            (
                "fragments",
                clientFrame([], first: 1) + Array(repeating: clientFrame([], first: 0), count: 100).joined(), 1009
            ),
            ("UTF-8", clientFrame([0x34, 0xFF]), 1007), ("close code", clientFrame([0x03, 0xED], first: 0x88), 1002),
            ("close", clientFrame([0x0B, 0xB8], first: 0x88) + clientText("ignored"), 3000),
            ("close without code", clientFrame([], first: 0x88), 1005),
            ("empty packet", clientText(""), 1002), ("unknown packet", clientText("9"), 1002),
            ("ping of the wrong side", clientText("2"), 1002), ("open", clientText("0{}"), 1002),
            ("goodbye", clientText("1"), 1000),
        ]
        for path in ["/engine.io/", "/socket.io/"] {
            for (name, input, code) in cases {
                let client = try fixture.openSocket(path: path)
                client.send(input)
                #expect(try client.closeCode() == code, "\(name)")
                try client.waitForEnd()
            }
        }
        #expect(try fixture.eventually { server, _ in server.sessionCount == 0 && server.connectionCount == 0 })
    }

    @Test func pingsAreAnsweredAndFloodsCutOff() throws {
        let fixture = try ServerFixture()
        let client = try fixture.openSocket(path: "/engine.io/")
        client.send(clientFrame(bytes("p"), first: 0x89))
        let pong = try client.frame()
        #expect(pong.opcode == 10)
        #expect(pong.payload == bytes("p"))
        for _ in 0..<200 { client.send(clientFrame([], first: 0x89)) }
        #expect(try client.closeCode() == 1008)
    }

    @Test func lastOfManyPingsIsAnswered() throws {
        let fixture = try ServerFixture()
        let client = try fixture.openSocket(path: "/engine.io/")
        client.send((0..<60).flatMap { clientFrame([$0], first: 0x89) } + clientText("4end"))
        var answered: [UInt8] = []
        while answered.last != 59 {
            let frame = try client.frame()
            if frame.opcode == 10 { answered += frame.payload } else { #expect(frame.payload == bytes("4end")) }
        }
        #expect(answered.starts(with: 0..<20))
        #expect(answered == answered.sorted())
    }

    @Test func pingsGoOnWhenTheTimeoutIsLongerThanTheInterval() throws {
        let fixture = try ServerFixture {
            $0.pingInterval = .milliseconds(20)
            $0.pingTimeout = .seconds(60)
        }
        let client = try fixture.openSocket(path: "/engine.io/")
        for _ in 0..<5 {
            #expect(try client.frame().payload == bytes("2"))
            client.sendText("3")
        }
    }

    @Test func aHalfFrameDoesNotOutliveThePong() throws {
        let fixture = try ServerFixture {
            $0.pingInterval = .milliseconds(50)
            $0.pingTimeout = .milliseconds(50)
        }
        let client = try fixture.connectedSocket()
        client.send(Array(clientText("42[").dropLast()))
        try client.waitForEnd()
        #expect(try fixture.eventually { _, application in application.log.last == "disconnected pingTimeout" })
    }
}
