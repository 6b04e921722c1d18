import SocketIO
import SocketIOServer
import Testing

@Suite struct HTTPShellTests {
    @Test func refusals() throws {
        let app = try WebOrigin(parsing: "https://app.example.com")
        let fixture = try ServerFixture { $0.origins = .only([app]) }
        let engine = "/engine.io/?EIO=4&transport="
        let origin = "Origin: https://app.example.com"
        let cases: [(String, Int, String)] = [
            (RawClient.get("\(engine)websocket"), 400, #"{"code":3"#),
            (RawClient.get("/echo"), 400, ""),
            (RawClient.get("/engine.io/?EIO=3&transport=polling"), 400, #"{"code":5"#),
            (RawClient.get("/engine.io?transport=polling"), 400, #"{"code":5"#),
            (RawClient.get("\(engine)__proto__"), 400, #"{"code":0"#),
            (RawClient.get("/engine.io/?EIO=4"), 400, #"{"code":0"#),
            (RawClient.get("\(engine)polling&sid=AAAAAAAAAAAAAAAAAAAA"), 400, #"{"code":1"#),
            (RawClient.get("\(engine)polling&sid="), 400, #"{"code":1"#),
            (RawClient.upgrade("\(engine)websocket&sid=x"), 400, #"{"code":1"#),
            (RawClient.upgrade("\(engine)polling"), 400, #"{"code":3"#),
            (RawClient.post("\(engine)polling", ""), 400, #"{"code":2"#),
            (RawClient.get("\(engine)polling", headers: "\(origin).evil.io\r\n"), 403, #"{"code":4"#),
            (
                RawClient.get("\(engine)polling", headers: "Origin: https://evil.io\r\n"), 403,
                #"{"code":4,"message":"Pages of https://evil.io may not use this server: its setting origins"#
            ),
            (RawClient.get("\(engine)polling", headers: "Origin: null\r\n"), 403, #"{"code":4"#),
            (RawClient.get("\(engine)polling", headers: "Origin: https://APP.example.com\r\n"), 403, ""),
            (RawClient.get("\(engine)polling", headers: "\(origin):443\r\n"), 403, ""),
            (RawClient.get("\(engine)polling", headers: "\(origin)\r\n\(origin)\r\n"), 400, #"{"code":3"#),
            (RawClient.get("\(engine)polling", headers: "\(origin)\r\n"), 200, "0{"),
            (RawClient.get("\(engine)polling", headers: "Origin: ws://localhost\r\n"), 200, "0{"),
            (RawClient.get("\(engine)polling&q=" + String(repeating: "x", count: 65_536)), 414, ""),
            (RawClient.get("/", headers: (0..<300).map { "H\($0): x\r\n" }.joined()), 431, ""),
            (RawClient.get("/a\u{0}b"), 400, ""),
            (
                "POST /engine.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n",
                400, ""
            ),
        ]
        for (request, status, body) in cases {
            let response = try fixture.client().ask(request)
            #expect(response.status == status, "\(request.prefix(120))")
            #expect(response.body.hasPrefix(body), "\(request.prefix(120)) \(response.body)")
        }
        let version = RawClient.upgrade("/echo").replacing("Version: 13", with: "Version: 8")
        let response = try fixture.client().ask(version)
        #expect(response.status == 426)
        #expect(response.head.contains("Sec-WebSocket-Version: 13"))
    }

    @Test func aBodyMayGoOnUntilTheConnectionEnds() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        client.send(RawClient.get("/stream"))
        let head = try client.head()
        #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("Connection: close\r\n"))
        #expect(!head.contains("Content-Length"))
        try client.waitForEnd()
        #expect(String(decoding: try client.readAvailable(), as: UTF8.self) == "one two three")
        #expect(try fixture.log() == ["stream ended"])
    }

    @Test func aBodyThatGoesOnEndsWithItsClient() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        client.send(RawClient.get("/stream"))
        _ = try client.head()
        client.close()
        #expect(try fixture.eventually { _, application in application.log == ["stream ended"] })
    }

    /// A request for the head alone gets no body.
    @Test func ofABodyThatGoesOnTheHeadAloneIsAnswered() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.head().hasPrefix("HTTP/1.1 200 "))
        #expect(try client.ask(RawClient.get("/missing")).status == 404)
    }

    /// Whatever answers: the engine, an application, a limit or a failure of the parser.
    @Test func noAnswerLetsABrowserGuessItsType() throws {
        let fixture = try ServerFixture { $0.maxConnections = 2 }
        let client = try fixture.client()
        let sid = try fixture.openPolling(client)
        let session = "/socket.io/?EIO=4&transport=polling&sid=\(sid)"
        let requests = [
            RawClient.post(session, "40"), RawClient.get(session), RawClient.get("/socket.io/?EIO=4"),
            RawClient.get("/"), RawClient.get("/missing"), "OPTIONS /socket.io/ HTTP/1.1\r\nHost: h\r\n\r\n",
        ]
        for request in requests { try Self.expectNosniff(try client.ask(request)) }
        for request in ["nonsense\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n"] {
            try Self.expectNosniff(try fixture.client().ask(request))
        }
        let other = try fixture.client()
        try Self.expectNosniff(try other.ask(RawClient.get("/")))
        let refused = try fixture.client().ask(RawClient.get("/"))
        #expect(refused.status == 503)
        try Self.expectNosniff(refused)
    }

    private static func expectNosniff(_ response: RawClient.Response) throws {
        let fields = response.head.split(separator: "\r\n").filter {
            $0.lowercased().hasPrefix("x-content-type-options")
        }
        #expect(fields == ["X-Content-Type-Options: nosniff"], "\(response.head)")
    }

    @Test func malformedTrailersCloseTheConnection() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try client.ask("\(head)1\r\na\r\n0\r\nT: v\r\n\r\n").status == 200)
        let response = try client.ask("\(head)1\r\na\r\n0\r\nGET / HTTP/1.1\r\n\r\n")
        #expect(response.status == 400)
        #expect(response.head.contains("Connection: close"))
        try client.waitForEnd()
    }

    @Test(arguments: [
        ("/socket.io/?EIO=4&transport=websocket&sid=x", "", 400), ("/echo", "Sec-WebSocket-Version: 8\r\n", 426),
        ("/socket.io/?EIO=4&transport=websocket", "Origin: https://evil.io\r\n", 403),
        ("/socket.io/?EIO=3&transport=websocket", "", 400), ("/socket.io/?transport=none", "", 400),
        ("/missing", "", 404),
    ])
    func refusedUpgradeClosesTheConnection(target: String, headers: String, status: Int) throws {
        let fixture = try ServerFixture {
            $0.origins = .only([])
            // Longer than the test may take.
            $0.keepAliveTimeout = .seconds(75)
        }
        let client = try fixture.client()
        let version = headers.contains("Version") ? "" : "Sec-WebSocket-Version: 13\r\n"
        let response = try client.ask(
            "GET \(target) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: \(RawClient.key)\r\n\(version)\(headers)\r\n")
        #expect(response.status == status)
        #expect(response.head.contains("Connection: close"))
        try client.waitForEnd()
    }

    @Test func largeBodyIsRefusedByTheApplication() throws {
        let fixture = try ServerFixture()
        let requests = [
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3E9\r\n",
        ]
        for request in requests {
            let client = try fixture.client()
            let response = try client.ask(request)
            #expect(response.status == 413, "\(request)")
            #expect(response.body == "too large: POST /", "\(request)")
            try client.waitForEnd()
        }
    }

    @Test func cors() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let allowed = "Access-Control-Allow-Origin: *"
        #expect(try client.ask(RawClient.get("/socket.io/?EIO=4&transport=polling")).head.contains(allowed))
        #expect(try client.ask(RawClient.get("/socket.io/?EIO=4")).head.contains(allowed))
        let preflight = try client.ask(
            "OPTIONS /socket.io/ HTTP/1.1\r\nHost: h\r\nAccess-Control-Request-Headers: x-a\r\n\r\n")
        #expect(preflight.status == 204)
        #expect(preflight.head.contains(allowed))
        #expect(preflight.head.contains("Access-Control-Allow-Headers: x-a"))
    }

    @Test func fallbackAnswersNowOrLaterAndPipelined() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        client.send(RawClient.get("/later") + RawClient.post("/b", "body") + RawClient.get("/c"))
        #expect(try client.response().head.contains("X-Path: /later"))
        let second = try client.response()
        #expect(second.body == "body")
        #expect(!second.head.contains("Injected"))
        #expect(try client.response().head.contains("X-Path: /c"))
        #expect(try client.ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n").status == 413)
        try client.waitForEnd()
        let chunked = try fixture.client()
        let head = "POST /d HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try chunked.ask("\(head)3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n").body == "abcd")
        let patient = try fixture.client()
        let expecting = "POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        #expect(try patient.ask(expecting).status == 100)
        #expect(try patient.ask("hi").body == "hi")
        #expect(try fixture.client().ask("HEAD /f HTTP/1.0\r\n\r\n").status == 200)
    }

    @Test func slowHeadsAreCutOff() throws {
        let fixture = try ServerFixture { $0.handshakeTimeout = .milliseconds(50) }
        let silent = try fixture.client()
        try silent.waitForEnd()
        let slow = try fixture.client()
        slow.send("GET / HTTP/1.1\r\nHos")
        try slow.waitForEnd()
        #expect(try fixture.eventually { server, _ in server.connectionCount == 0 })
    }

    @Test func connectionLimits() throws {
        let fixture = try ServerFixture { $0.maxConnections = 1 }
        let first = try fixture.client()
        #expect(try first.ask(RawClient.get("/")).status == 200)
        let second = try fixture.client()
        let response = try second.ask(RawClient.get("/"))
        #expect(response.status == 503)
        #expect(response.head.contains("Retry-After"))
        first.close()
        second.close()
        #expect(try fixture.eventually { server, _ in server.connectionCount == 0 })
        #expect(try fixture.client().ask(RawClient.get("/")).status == 200)
    }
}
