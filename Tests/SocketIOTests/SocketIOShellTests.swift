import SocketIO
import Testing

@testable import SocketIOServer

@Suite struct SocketIOShellTests {
    private static let path = "/socket.io/?EIO=4&transport=polling&sid="

    @Test func connectEventsAndAcks() throws {
        let fixture = try ServerFixture()
        let client = try fixture.openSocket()
        client.sendText(#"40/,{"token":"x"}"#)
        let answer = try client.message()
        #expect(answer.hasPrefix(#"40{"sid":""#))
        #expect(answer.hasSuffix(#"","epoch":1}"#))
        client.sendText(#"42["a",1.50,{"z":0,"a":1e2}]"#)
        #expect(try client.message() == #"42["a",1.50,{"z":0,"a":1e2}]"#)
        client.sendText(#"420["b"]"#)
        #expect(try client.message() == #"430["b"]"#)
        client.sendText("40/custom,")
        #expect(try client.message().hasPrefix(#"40/custom,{"sid":""#))
        client.sendText(#"42/custom,9["c"]"#)
        #expect(try client.message() == #"43/custom,9["c"]"#)
        client.sendText("40/random")
        #expect(try client.message() == #"44/random,{"message":"Invalid namespace"}"#)
        client.sendText("40")
        #expect(try client.message() == #"44{"message":"Already connected"}"#)
        client.sendText("41/custom,")
        client.sendText("41/,")
        #expect(
            try fixture.eventually { _, application in
                application.log.suffix(2) == ["disconnected clientNamespace", "disconnected clientNamespace"]
            })
        client.sendText("40")
        #expect(try client.message().hasPrefix(#"40{"sid":""#))
        client.close()
        #expect(
            try fixture.eventually { server, application in
                application.log.last == "disconnected transportClose" && server.sessionCount == 0
            })
    }

    @Test func refusalLeavesTheEngineOpenUntilTheConnectTimeout() throws {
        let fixture = try ServerFixture { $0.connectTimeout = .milliseconds(300) }
        let client = try fixture.openSocket()
        client.sendText(#"40{"token":"reject"}"#)
        #expect(try client.message() == #"44{"message":"not authorized","data":{"code":401}}"#)
        client.sendText(#"40{"token":"reject"}"#)
        #expect(try client.message() == #"44{"message":"not authorized","data":{"code":401}}"#)
        #expect(try client.closeCode() == 1008)
    }

    @Test(arguments: [
        #"42["early"]"#, "4", "4abc", "42{}", "45", #"430[]"#, "41", "40[]", "40{", #"42/nowhere,["a"]"#, "44{}",
    ])
    func beforeConnectNothingElse(text: String) throws {
        let fixture = try ServerFixture()
        let client = try fixture.openSocket()
        client.sendText(text)
        #expect(try client.closeCode() == 1002)
    }

    @Test(arguments: [
        "4abc", "42{}", #"42abc["a"]"#, #"4299999999999999999999["a"]"#, #"42-1["a"]"#, #"421e3["a"]"#, #"450-["a"]"#,
        #"4511-["a"]"#, #"45999999999-["a"]"#,
    ])
    func malformedPacketsClose(text: String) throws {
        let fixture = try ServerFixture()
        let client = try fixture.connectedSocket()
        client.sendText(text)
        #expect(try client.closeCode() == 1002)
        #expect(try fixture.log().last == "disconnected parseError")
    }

    @Test func binary() throws {
        let fixture = try ServerFixture()
        let client = try fixture.connectedSocket()
        let text = #"452-["a",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]"#
        client.send(clientText(text) + clientFrame([1, 2], first: 0x82) + clientFrame([], first: 0x82))
        #expect(try client.message() == text)
        #expect(try client.frame().payload == [1, 2])
        #expect(try client.frame().payload == [])
        client.send(clientText(#"451-["a",{"_placeholder":true,"num":1}]"#) + clientFrame([1], first: 0x82))
        #expect(try client.closeCode() == 1002)
        let interrupted = try fixture.connectedSocket()
        interrupted.send(clientText(#"451-["a"]"#) + clientText(#"42["b"]"#))
        #expect(try interrupted.closeCode() == 1002)
        let unannounced = try fixture.connectedSocket()
        unannounced.send(clientFrame([1], first: 0x82))
        #expect(try unannounced.closeCode() == 1002)
        let off = try ServerFixture { $0.maxAttachments = 0 }
        for frame in [clientText(#"451-["a"]"#), clientFrame([1], first: 0x82)] {
            let refused = try off.connectedSocket()
            refused.send(frame)
            #expect(try refused.closeCode() == 1003)
        }
    }

    @Test func kickedAndStillTalking() throws {
        let fixture = try ServerFixture()
        let client = try fixture.connectedSocket()
        client.send(clientText(#"42["kick"]"#) + clientText(#"42["late"]"#))
        #expect(try client.message() == "41")
        client.sendText("40")
        #expect(try client.message().hasPrefix("40{"))
        #expect(try fixture.onLoop { server, _ in server.statistics.strayPackets } == 1)
    }

    @Test func acksForWhichNobodyAskedAreIgnored() throws {
        let fixture = try ServerFixture()
        let client = try fixture.connectedSocket()
        client.send(
            clientText("435[1]") + clientText(#"461-0[{"_placeholder":true,"num":0}]"#)
                + clientFrame([1], first: 0x82) + clientText(#"42["end"]"#))
        #expect(try client.message() == #"42["end"]"#)
        #expect(try fixture.onLoop { server, _ in server.statistics.strayPackets } == 2)
    }

    @Test(arguments: [#"\u0000"#, #"\ud800"#, #"\udc00\ud800"#])
    func everyTextOfJSONReachesTheApplication(text: String) throws {
        let fixture = try ServerFixture()
        let client = try fixture.openSocket()
        client.sendText(#"40{"token":"\#(text)"}"#)
        #expect(try client.message().hasPrefix(#"40{"sid":""#))
        #expect(try fixture.log() == [#"connect / {"token":"\#(text)"}"#])
        client.sendText(#"42["a","\#(text)"]"#)
        #expect(try client.message() == #"42["a","\#(text)"]"#)
        let binary = #"451-["\#(text)",{"_placeholder":true,"num":0}]"#
        client.send(clientText(binary) + clientFrame([1], first: 0x82))
        #expect(try client.message() == binary)
        #expect(try client.frame().payload == [1])
    }

    @Test func badPacketBudget() throws {
        let fixture = try ServerFixture { $0.badPacketBudget = 3 }
        let client = try fixture.connectedSocket()
        for _ in 0..<4 { client.sendText(#"42["bad"]"#) }
        #expect(try client.closeCode() == 1008)
        #expect(try fixture.log().last == "disconnected badPackets")
    }

    @Test func preparedPacketsReachBothTransports() throws {
        let fixture = try ServerFixture()
        let socket = try fixture.connectedSocket()
        let polling = try fixture.client()
        let sid = try fixture.openPolling(polling)
        _ = try polling.ask(RawClient.post(Self.path + sid, "40"))
        #expect(try polling.ask(RawClient.get(Self.path + sid)).body.hasPrefix("40{"))
        let long = String(repeating: "x", count: 300)
        try fixture.onLoop { server, application in
            let one = PreparedPacket(event: bytes(#"["one"]"#))
            let two = PreparedPacket(event: bytes(#"["two","\#(long)"]"#))
            let both = PreparedPacket.concatenating([one, two])
            for member in application.sockets {
                member.send(both)
                member.emit(bytes(#"["three"]"#))
                member.send(one)
            }
            server.flush()
        }
        let expected = [#"42["one"]"#, #"42["two","\#(long)"]"#, #"42["three"]"#, #"42["one"]"#]
        for text in expected { #expect(try socket.message() == text) }
        #expect(try polling.ask(RawClient.get(Self.path + sid)).body == expected.joined(separator: "\u{1e}"))
    }

    /// A client in the main namespace that fetches nothing.
    private static func member(of fixture: ServerFixture, polls: Bool) throws -> RawClient {
        guard polls else { return try fixture.connectedSocket() }
        let client = try fixture.client()
        let sid = try fixture.openPolling(client)
        _ = try client.ask(RawClient.post(Self.path + sid, "40"))
        return client
    }

    /// Many small packets take up more while they wait for polls.
    @Test(arguments: [true, false])
    func whatIsOfferedTakesUpNoMoreThanHalfOfTheBound(polls: Bool) throws {
        let fixture = try ServerFixture { $0.maxBufferedBytes = 300_000 }
        let client = try Self.member(of: fixture, polls: polls)
        let taken = try fixture.onLoop { server, application in
            func packet(_ count: Int) -> PreparedPacket {
                PreparedPacket(event: bytes(#"["x",""# + String(repeating: "x", count: count) + #""]"#))
            }
            let many = PreparedPacket.concatenating([PreparedPacket](repeating: packet(1), count: 2000))
            let taken = [packet(400_000), many, packet(100_000)].map { application.sockets[0].offer($0) }
            server.flush()
            return taken
        }
        #expect(taken == [false, !polls, true])
        #expect(try fixture.onLoop { server, _ in server.statistics.slowReaders } == 0)
        client.close()
    }

    @Test(arguments: [true, false])
    func slowReadersAreBounded(polls: Bool) throws {
        let fixture = try ServerFixture { $0.maxBufferedBytes = 300_000 }
        let client = try Self.member(of: fixture, polls: polls)
        let peak = try fixture.onLoop { server, application in
            let packet = PreparedPacket(event: bytes(#"["x",""# + String(repeating: "x", count: 10_000) + #""]"#))
            var peak = 0
            for _ in 0..<2000 {
                guard let socket = application.sockets.first, socket.isConnected else { break }
                socket.send(packet)
                server.flush()
                peak = max(peak, socket.bufferedBytes)
            }
            return peak
        }
        #expect(peak < 320_000)
        #expect(try fixture.log().last == "disconnected slowReader")
        client.close()
        #expect(try fixture.eventually { server, _ in server.connectionCount == 0 && server.sessionCount == 0 })
    }

    @Test func writableIsTold() throws {
        let fixture = try ServerFixture { $0.maxBufferedBytes = 64 << 20 }
        let client = try fixture.connectedSocket()
        try fixture.onLoop { server, application in
            let packet = PreparedPacket(event: bytes(#"["x",""# + String(repeating: "x", count: 50_000) + #""]"#))
            var count = 0
            while application.sockets[0].isWritable, count < 1000 {
                application.sockets[0].send(packet)
                server.flush()
                count += 1
            }
            application.sockets[0].emit(bytes(#"["end"]"#))
        }
        while try client.message() != #"42["end"]"# {}
        #expect(try fixture.eventually { _, application in application.log.last == "writable" })
    }

    @Test func draining() throws {
        let fixture = try ServerFixture()
        let clients = try (0..<3).map { _ in try fixture.connectedSocket() }
        let polling = try fixture.client()
        let sid = try fixture.openPolling(polling)
        let left = try fixture.onLoop { server, _ in
            _ = server.stopAccepting()
            return [server.drain(upTo: 2), server.drain(upTo: 10)]
        }
        #expect(left == [2, 0])
        for client in clients { #expect(try client.closeCode() == 1001) }
        // No close packet: python-engineio would not connect again.
        #expect(try polling.ask(RawClient.get(Self.path + sid)).status == 400)
        #expect(throws: RawClient.Failure.self) { _ = try fixture.client() }
    }

    /// python-engineio throws a body of more than 16 packets away, and with it the connection.
    @Test(arguments: [true, false])
    func aGoodbyeOfManyPacketsTakesSeveralPolls(isHeld: Bool) throws {
        let fixture = try ServerFixture()
        let polling = try fixture.client()
        let sid = try fixture.openPolling(polling)
        let path = Self.path + sid
        _ = try polling.ask(RawClient.post(path, "40"))
        #expect(try polling.ask(RawClient.get(path)).body.hasPrefix("40{"))
        if isHeld { polling.send(RawClient.get(path)) }
        let left = try fixture.eventually { server, application in
            // In one turn of the loop: nothing is sent before the end of it.
            let hasPoll = server.sessions.all.contains { $0.output.polling?.poll != nil }
            guard !isHeld || hasPoll else { return false }
            for number in 1...40 { application.sockets[0].emit(bytes("[\(number)]")) }
            return server.drain(upTo: 10) > 0
        }
        #expect(left)
        let first = try isHeld ? polling.response() : polling.ask(RawClient.get(path))
        var bodies = [first.body]
        for _ in 0..<2 { bodies.append(try polling.ask(RawClient.get(path)).body) }
        let packets = bodies.map { $0.split(separator: "\u{1e}") }
        #expect(packets.map(\.count) == [16, 16, 8])
        #expect(packets.joined().map(String.init) == (1...40).map { "42[\($0)]" })
        #expect(try fixture.onLoop { server, _ in server.drain(upTo: 10) } == 0)
        #expect(try polling.ask(RawClient.get(path)).status == 400)
    }

    @Test func whilePollsAreAwaitedNewSessionsAreRefused() throws {
        let fixture = try ServerFixture()
        let polling = try fixture.client()
        let sid = try fixture.openPolling(polling)
        _ = try polling.ask(RawClient.post(Self.path + sid, "40"))
        try fixture.onLoop { server, _ in server.refuseSessions() }
        // On a connection of its own, as every answer closes its connection from now on.
        #expect(try fixture.client().ask(RawClient.get(Self.path + sid)).body.hasPrefix("40{"))
        #expect(try fixture.client().ask(RawClient.get("/socket.io/?EIO=4&transport=polling")).status == 503)
    }

    /// What socket.io-client-swift does on the wire.
    @Test func quirksOfTheSwiftClient() throws {
        let fixture = try ServerFixture {
            $0.pingInterval = .milliseconds(60)
            $0.pingTimeout = .milliseconds(150)
        }
        let headers = "Origin: ws://localhost:3000\r\nCookie: a=b\r\n"
        let (client, poller) = (try fixture.client(), try fixture.client())
        let open = try client.ask(RawClient.get("/socket.io/?transport=polling&b64=1&x=y&EIO=4", headers: headers))
        let sid = ServerFixture.sid(open.body)
        let socket = try fixture.client()
        socket.send(RawClient.upgrade("/socket.io/?transport=websocket&x=y&EIO=4&sid=\(sid)", headers: headers))
        #expect(try socket.response().status == 101)
        _ = try client.ask(RawClient.post(Self.path + sid, #"40/,{"token":"t"}"#))
        #expect(try poller.ask(RawClient.get(Self.path + sid)).body.hasPrefix("40{"))
        // A ping comes before the probe; its pong is held back until the upgrade is over.
        #expect(try poller.ask(RawClient.get(Self.path + sid)).body == "2")
        socket.sendText("2probe")
        #expect(try socket.message() == "3probe")
        #expect(try poller.ask(RawClient.get(Self.path + sid)).body == "6")
        socket.send(clientText("5") + clientText("3") + clientText("6") + clientText(#"42["a"]"#))
        #expect(try socket.message() == #"42["a"]"#)
        socket.sendText("41/,")
        #expect(try fixture.eventually { _, application in application.log.last == "disconnected clientNamespace" })
    }
}
