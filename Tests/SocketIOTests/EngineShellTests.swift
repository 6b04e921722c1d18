import SocketIO
import SocketIOServer
import Testing

@Suite struct EngineShellTests {
    private static let path = "/engine.io/?EIO=4&transport=polling&sid="

    @Test func pollingEchoesBeforeOK() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        #expect(try client.ask(RawClient.post(Self.path + sid, "4a\u{1e}bAQID\u{1e}4é")).body == "ok")
        #expect(try client.ask(RawClient.get(Self.path + sid)).body == "4a\u{1e}bAQID\u{1e}4é")
        // A held poll is answered by a later POST.
        client.send(RawClient.get(Self.path + sid))
        let poster = try fixture.client()
        #expect(try poster.ask(RawClient.post(Self.path + sid, "4b")).body == "ok")
        #expect(try client.response().body == "4b")
    }

    @Test func atMostSixteenPacketsABody() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        let packets = (0..<40).map { "4\($0)" }
        _ = try client.ask(RawClient.post(Self.path + sid, packets.joined(separator: "\u{1e}")))
        var received: [String] = []
        while received.count < 40 {
            let body = try client.ask(RawClient.get(Self.path + sid)).body.split(separator: "\u{1e}").map(String.init)
            #expect(body.count <= 16)
            received += body
        }
        #expect(received == packets)
    }

    @Test func secondPollAndSecondPostEndTheSession() throws {
        let fixture = try ServerFixture()
        let (first, second) = (try fixture.client(), try fixture.client())
        let sid = try fixture.openPolling(first, path: "/engine.io/")
        first.send(RawClient.get(Self.path + sid))
        #expect(try fixture.eventually { server, _ in server.statistics.requests == 2 })
        #expect(try second.ask(RawClient.get(Self.path + sid)).status == 400)
        let held = try first.response()
        #expect(held.status == 200)
        #expect(held.body == "1")
        #expect(try second.ask(RawClient.get(Self.path + sid)).body == #"{"code":1,"message":"Session ID unknown"}"#)

        let other = try fixture.openPolling(first, path: "/engine.io/")
        first.send("POST \(Self.path + other) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n4a")
        #expect(try fixture.eventually { server, _ in server.statistics.requests == 6 })
        #expect(try second.ask(RawClient.post(Self.path + other, "4b")).status == 400)
        #expect(try first.ask("bcd").status == 400)
        #expect(try fixture.client().ask(RawClient.get(Self.path + other)).status == 400)
        #expect(try fixture.eventually { server, _ in server.sessionCount == 0 })
    }

    @Test func oversizeIsNotRead() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        #expect(
            try client.ask("POST \(Self.path + sid) HTTP/1.1\r\nHost: h\r\nContent-Length: 262145\r\n\r\n").status
                == 413
        )
        let other = try fixture.client()
        let second = try fixture.openPolling(other, path: "/engine.io/")
        let head = "POST \(Self.path + second) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try other.ask("\(head)2\r\n4a\r\n40000\r\n").status == 413)
        #expect(try fixture.eventually { server, _ in server.sessionCount == 0 })
    }

    /// socket.io-client-swift sends everything that waits in one POST, whatever `maxPayload` says.
    @Test(arguments: [true, false])
    func aPostMayHaveSeveralOfTheLargestPackets(isChunked: Bool) throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let target = Self.path + (try fixture.openPolling(client, path: "/engine.io/"))
        // 260,000 bytes, of which no packet has more than 65,536.
        let packets = (0..<5).flatMap { ["4\($0)" + String(repeating: "x", count: 51_990), "4small \($0)"] }
        let body = packets.joined(separator: "\u{1e}")
        #expect(try client.ask(Self.post(target, body, isChunked: isChunked)).body == "ok")
        var received: [String] = []
        while received.count < packets.count {
            received += try client.ask(RawClient.get(target)).body.split(separator: "\u{1e}").map(String.init)
        }
        #expect(received == packets)
        // Each packet has the limit that a message has.
        let largest = "4" + String(repeating: "x", count: 65_535)
        #expect(try client.ask(Self.post(target, "\(largest)\u{1e}4a", isChunked: isChunked)).body == "ok")
        let tooLarge = Self.post(target, "4b\u{1e}\(largest)x\u{1e}4c", isChunked: isChunked)
        #expect(try client.ask(tooLarge).status == 413)
        try client.waitForEnd()
        let isOver = try fixture.eventually { server, _ in server.sessionCount == 0 }
        #expect(isOver)
    }

    private static func post(_ target: String, _ body: String, isChunked: Bool) -> String {
        guard isChunked else { return RawClient.post(target, body) }
        let half = body.utf8.count / 2
        let (first, second) = (body.prefix(half), body.dropFirst(half))
        return "POST \(target) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            + [first, second].map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
    }

    /// So a long body needs no memory: the server keeps one packet at most.
    @Test func thePacketsOfAPostAreProcessedAsTheyCome() throws {
        let fixture = try ServerFixture()
        let (client, poller) = (try fixture.client(), try fixture.client())
        let target = Self.path + (try fixture.openPolling(poller, path: "/engine.io/"))
        client.send("POST \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n")
        var sent = 0
        for number in 0..<4 {
            let packet = "4\(number)" + String(repeating: "x", count: 40_000)
            client.send(packet + "\u{1e}4")
            sent += packet.utf8.count + 2
            // The next packet begins with its type, which waits.
            #expect(try poller.ask(RawClient.get(target)).body == packet)
            client.send("y\u{1e}")
            sent += 2
            #expect(try poller.ask(RawClient.get(target)).body == "4y")
        }
        client.send("4" + String(repeating: "z", count: 200_000 - sent - 1))
        #expect(try client.response().body == "ok")
    }

    @Test func whatComesBeforeAMalformedPacketIsProcessed() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let target = "/socket.io/?EIO=4&transport=polling&sid=\(try fixture.openPolling(client))"
        // The end of the body is not waited for.
        let head = "POST \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n"
        let response = try client.ask(head + ["40", #"42["a"]"#, "x", #"42["b"]"#].joined(separator: "\u{1e}"))
        #expect(response.status == 400 && response.head.contains("Connection: close"))
        #expect(try fixture.log() == ["connect / ", #"event ["a"]"#, "disconnected protocolError"])
    }

    @Test func malformedBodiesEndTheSession() throws {
        let fixture = try ServerFixture()
        for body in ["abc", "", "4a\u{1e}", "b=", "0{}", "2"] {
            let client = try fixture.client()
            let sid = try fixture.openPolling(client, path: "/engine.io/")
            #expect(try client.ask(RawClient.post(Self.path + sid, body)).status == 400, "\(body)")
            #expect(try client.ask(RawClient.get(Self.path + sid)).status == 400, "\(body)")
        }
    }

    @Test func whatFollowsAClosePacketIsIgnored() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        #expect(try client.ask(RawClient.post(Self.path + sid, "1\u{1e}x\u{1e}4a")).body == "ok")
    }

    @Test func goodbyeAnswersAPollThatCameTooLate() throws {
        let fixture = try ServerFixture()
        let (client, poller) = (try fixture.client(), try fixture.client())
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        client.send(RawClient.post(Self.path + sid, "1"))
        #expect(try client.response().body == "ok")
        #expect(try poller.ask(RawClient.get(Self.path + sid)).status == 400)
        let other = try fixture.openPolling(client, path: "/engine.io/")
        poller.send(RawClient.get(Self.path + other))
        #expect(try fixture.eventually { server, _ in server.statistics.requests == 5 })
        #expect(try client.ask(RawClient.post(Self.path + other, "1")).body == "ok")
        #expect(try poller.response().body == "6")
    }

    @Test func upgradeKeepsOrder() throws {
        let fixture = try ServerFixture()
        let (client, poller) = (try fixture.client(), try fixture.client())
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        poller.send(RawClient.get(Self.path + sid))
        let socket = try fixture.client()
        #expect(try socket.ask(RawClient.upgrade("/engine.io/?EIO=4&transport=websocket&sid=\(sid)")).status == 101)
        socket.sendText("2probe")
        #expect(try socket.message() == "3probe")
        // Each released when the next hundred milliseconds have passed.
        #expect(try poller.response().body == "6")
        #expect(try poller.ask(RawClient.get(Self.path + sid)).body == "6")
        for index in 0..<20 { _ = try client.ask(RawClient.post(Self.path + sid, "4p\(index)")) }
        // A second WebSocket is closed, the first one stays.
        let intruder = try fixture.client()
        #expect(try intruder.ask(RawClient.upgrade("/engine.io/?EIO=4&transport=websocket&sid=\(sid)")).status == 101)
        #expect(try intruder.closeCode() == 1000)
        socket.send(clientText("5") + clientText("6") + clientText("4w"))
        for index in 0..<20 { #expect(try socket.message() == "4p\(index)") }
        #expect(try socket.message() == "4w")
        #expect(try client.ask(RawClient.get(Self.path + sid)).status == 400)
        let late = try fixture.client()
        #expect(try late.ask(RawClient.upgrade("/engine.io/?EIO=4&transport=websocket&sid=\(sid)")).status == 101)
        #expect(try late.closeCode() == 1000)
        socket.sendText("4still")
        #expect(try socket.message() == "4still")
    }

    @Test func aPostThatTheChangeOvertakesCounts() throws {
        let fixture = try ServerFixture()
        let (client, poster) = (try fixture.client(), try fixture.client())
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        poster.send("POST \(Self.path + sid) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n4a")
        #expect(try fixture.eventually { server, _ in server.statistics.requests == 2 })
        let socket = try fixture.client()
        #expect(try socket.ask(RawClient.upgrade("/engine.io/?EIO=4&transport=websocket&sid=\(sid)")).status == 101)
        socket.sendText("2probe")
        #expect(try socket.message() == "3probe")
        socket.send(clientText("5") + clientText("4w"))
        #expect(try socket.message() == "4w")
        #expect(try poster.ask("bcd").body == "ok")
        #expect(try socket.message() == "4abcd")
    }

    /// A client on the same machine, which changes transports as soon as its poll returns: then its POST of CONNECT is
    /// under way still.
    @Test func heldPollIsNotReleasedBeforeATenthOfASecond() throws {
        let fixture = try ServerFixture()
        let (client, poller, socket) = (try fixture.client(), try fixture.client(), try fixture.client())
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        poller.send(RawClient.get(Self.path + sid))
        #expect(try fixture.eventually { server, _ in server.statistics.requests == 2 })
        #expect(try socket.ask(RawClient.upgrade("/engine.io/?EIO=4&transport=websocket&sid=\(sid)")).status == 101)
        let start = ContinuousClock.now
        socket.sendText("2probe")
        #expect(try poller.response().body == "6")
        #expect(start.duration(to: .now) >= .milliseconds(100))
    }

    @Test(arguments: ["before", "during", "after"])
    func connectByPOSTIsNotLostToTheChange(arrival: String) throws {
        let fixture = try ServerFixture()
        let (client, poller, socket) = (try fixture.client(), try fixture.client(), try fixture.client())
        let sid = try fixture.openPolling(client)
        let path = "/socket.io/?transport=polling&b64=1&EIO=4&sid=\(sid)"
        poller.send(RawClient.get(path))
        let upgrade = RawClient.upgrade("/socket.io/?transport=websocket&EIO=4&sid=\(sid)")
        #expect(try socket.ask(upgrade).status == 101)
        socket.sendText("2probe")
        #expect(try socket.message() == "3probe")
        #expect(try poller.response().body == "6")
        let post = RawClient.post(path, #"40/,{"a":1}"#)
        switch arrival {
        case "before": client.send(post)
        case "during":
            client.send(String(post.dropLast(3)))
            #expect(try fixture.eventually { server, _ in server.statistics.requests == 4 })
        default: break
        }
        socket.sendText("5")
        #expect(try fixture.eventually { server, _ in server.statistics.upgrades == 1 })
        switch arrival {
        case "before": break
        case "during": client.send(String(post.suffix(3)))
        default: client.send(post)
        }
        #expect(try client.response().body == "ok")
        #expect(try socket.message().hasPrefix(#"40{"sid":""#))
        socket.sendText(#"42["a"]"#)
        #expect(try socket.message() == #"42["a"]"#)
        #expect(try fixture.log().first == #"connect / {"a":1}"#)
    }

    @Test func aLostUpgradeFallsBack() throws {
        let fixture = try ServerFixture { $0.upgradeTimeout = .milliseconds(100) }
        let client = try fixture.client()
        let sid = try fixture.openPolling(client, path: "/engine.io/")
        for ending in ["close", "bad", "time"] {
            let socket = try fixture.client()
            #expect(try socket.ask(RawClient.upgrade("/engine.io/?EIO=4&transport=websocket&sid=\(sid)")).status == 101)
            socket.sendText("2probe")
            #expect(try socket.message() == "3probe")
            switch ending {
            case "close": socket.close()
            case "bad":
                socket.sendText("4early")
                #expect(try socket.closeCode() == 1000)
            default: #expect(try socket.closeCode() == 1000)
            }
            #expect(try client.ask(RawClient.post(Self.path + sid, "4\(ending)")).body == "ok")
            #expect(try client.ask(RawClient.get(Self.path + sid)).body == "4\(ending)")
        }
    }
}
