import Testing
import Wire

@testable import SocketIO
@testable import SocketIOServer

@Suite struct HTTPRequestParserTests {
    private enum Outcome: Equatable {
        case head(String, String, String)
        case body([UInt8])
        case failure(UInt16)
    }

    private func parse(_ text: String, size: Int = 1, bodyLimit: Int = 100) -> [Outcome] {
        self.parse(bytes(text), size: size, bodyLimit: bodyLimit)
    }

    private func parse(_ input: [UInt8], size: Int = 1, bodyLimit: Int = 100) -> [Outcome] {
        var parser = HTTPRequestParser(limits: HTTPLimits())
        var outcomes: [Outcome] = []
        var body: [UInt8] = []
        for start in stride(from: 0, to: input.count, by: size) {
            Array(input[start..<min(start + size, input.count)]).withUnsafeBytes { piece in
                var offset = 0
                while let event = parser.next(piece, at: &offset) {
                    switch event {
                    case .head(let head):
                        let query = String(decoding: head.bytes[head.queryRange], as: UTF8.self)
                        outcomes.append(.head(head.method, head.path, query))
                        parser.acceptBody(limit: bodyLimit)
                    case .part(let range): body += piece[range]
                    case .end:
                        outcomes.append(.body(body))
                        body = []
                    case .failure(let status): outcomes.append(.failure(status))
                    }
                }
            }
        }
        return outcomes
    }

    @Test(arguments: [1, 3, 1000])
    func pipelinedRequests(size: Int) {
        let text =
            "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n\r\nPOST /p HTTP/1.1\r\nhost: x\r\nContent-Length: 3\r\n\r\nabc"
            + "POST /q HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: chunked\r\n\r\n2;e=f\r\nhi\r\na ; b; c = \"d;\\\"\t\" ;e\r\n0123456789\r\n0\r\nT: v\r\n\r\n"
            + "OPTIONS * HTTP/1.0\r\n\r\n"
        #expect(
            self.parse(text, size: size) == [
                .head("GET", "/a", "b=c"), .body([]), .head("POST", "/p", ""), .body(bytes("abc")),
                .head("POST", "/q", ""), .body(bytes("hi0123456789")), .head("OPTIONS", "*", ""), .body([]),
            ])
    }

    @Test func ambiguityIsRefused() {
        let heads: [(String, UInt16)] = [
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: a\n\n", 400), ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("\r\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400), ("GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
            ("GET / FTP/1.1\r\nHost: a\r\n\r\n", 400), ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET example HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ]
        for (text, status) in heads { #expect(self.parse(text) == [.failure(status)], "\(text)") }
    }

    @Test(arguments: ["101", "99999999999999999999"])
    func lengthOverTheLimitIsRefusedUnread(length: String) {
        let text = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\nabc"
        #expect(self.parse(text) == [.head("POST", "/p", ""), .failure(413)])
    }

    @Test func badChunks() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunks = [
            "x\r\n", "\r\n", "-1\r\n", "1\nA", "1\r\nAB\r\n", "123456789\r\n", " \r\n", " 1\r\n", "1 \r\n", "0x1\r\n",
            // Extensions.
            "1;\r\n", "1; =a\r\n", "1;a=\r\n", "1;a b\r\n", "1;a=b c\r\n", "1;a=\"b\r\n", "1;a=\"b\"c\r\n",
            "1;a=\"\\\r\n",
            "1;a;\r\n", "1 a\r\n", "1;a=\u{7F}\r\n", "1;\u{1}\r\n",
            // Trailers.
            "0\r\nno field\r\n", "0\r\n: v\r\n", "0\r\nT : v\r\n", "0\r\nT: v\r\n folded\r\n", "0\r\nT: \u{0}\r\n",
            "0\r\nT: v\n", "0\r\nT: v\rw\r\n",
        ]
        for chunk in chunks { #expect(self.parse(head + chunk).last == .failure(400), "\(chunk)") }
        #expect(self.parse(head + "65\r\n").last == .failure(413))
        #expect(self.parse(head + "60\r\n" + String(repeating: "a", count: 96) + "\r\n5\r\n").last == .failure(413))
    }

    @Test func limits() {
        #expect(self.parse("GET /?" + String(repeating: "q", count: 65_536), size: 999) == [.failure(414)])
        let many = (0..<65).map { "H\($0): v\r\n" }.joined()
        #expect(self.parse("GET / HTTP/1.1\r\nHost: a\r\n\(many)\r\n", size: 50) == [.failure(431)])
        let query = (0..<64).map { "p\($0)" }.joined(separator: "&")
        #expect(self.parse("GET /?\(query) HTTP/1.1\r\nHost: a\r\n\r\n") == [.head("GET", "/", query), .body([])])
        #expect(self.parse("GET /?\(query)& HTTP/1.1\r\nHost: a\r\n\r\n") == [.failure(414)])
        // Extensions and trailers together.
        let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = "00000001;" + String(repeating: "e", count: 999) + "\r\nb\r\n"
        let trailers = "00000000\r\nT: \(String(repeating: "v", count: 93))\r\n\r\n"
        #expect(self.parse(chunked + String(repeating: chunk, count: 4) + trailers).last == .body(bytes("bbbb")))
        #expect(self.parse(chunked + String(repeating: chunk, count: 5)).last == .failure(431))
        let late = trailers.dropLast(2) + "vv\r\n"
        #expect(self.parse(chunked + String(repeating: chunk, count: 4) + late).last == .failure(431))
        let large = "X: " + String(repeating: "v", count: 20_000)
        #expect(self.parse("GET / HTTP/1.1\r\nHost: a\r\n\(large)", size: 50) == [.failure(431)])
    }

    @Test func fieldsAndQueries() throws {
        var parser = HTTPRequestParser(limits: HTTPLimits())
        let text =
            "GET http://h/p%20q?a=1&EIO=4&t=%C3%A9+x&__proto__=&b#frag HTTP/1.1\r\nHost: h\r\n"
            + "Connection: keep-alive , Upgrade\r\nORIGIN:  \thttps://x \r\n\r\n"
        var found: HTTPRequestHead?
        bytes(text).withUnsafeBytes { input in
            var offset = 0
            if case .head(let head) = parser.next(input, at: &offset) { found = head }
        }
        let head = try #require(found)
        #expect(head.path == "/p%20q")
        #expect(head.queryValue("EIO") == "4")
        #expect(head.queryValue("t") == "é x")
        #expect(head.queryValue("b") == "")
        #expect(head.queryValue("c") == nil)
        #expect(head.header("origin") == "https://x")
        #expect(head.header("connection", lists: "upgrade"))
    }

    @Test func flippedBitsNeverTrap() {
        let sample =
            "POST /a?x=%41 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: y\r\n\r\n"
        for seed in 0..<400 as Range<UInt64> {
            var generator = SplitMix64(seed: seed)
            var input = bytes(sample)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                input[Int.random(in: 0..<input.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
            #expect(self.parse(input, size: 1) == self.parse(input, size: input.count), "seed \(seed)")
        }
    }
}

@Suite struct WebSocketHandshakeTests {
    private func answer(_ fields: String, line: String = "GET / HTTP/1.1") -> WebSocketHandshake.Answer? {
        var parser = HTTPRequestParser(limits: HTTPLimits())
        return bytes("\(line)\r\nHost: h\r\n\(fields)\r\n").withUnsafeBytes { input in
            var offset = 0
            guard case .head(let head) = parser.next(input, at: &offset) else { return nil }
            return WebSocketHandshake.answer(to: head)
        }
    }

    @Test func theExampleOfTheRFC() {
        let fields =
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-Websocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        #expect(self.answer(fields) == .accept(key: Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)))
        #expect(WebSocketAccept.value(for: Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(self.answer(fields, line: "POST / HTTP/1.1") == .malformed)
        #expect(self.answer(fields, line: "GET / HTTP/1.0") == .malformed)
        #expect(self.answer(fields + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n") == .malformed)
        #expect(
            self.answer(fields + "Sec-WebSocket-Extensions: permessage-deflate\r\n")
                == .accept(key: Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)))
    }

    @Test func whatIsWrong() {
        let base = "Upgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
        #expect(
            self.answer(base + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n")
                == .wrongVersion)
        for key in ["", "abc", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZSE=AAAA", "!!!!!!!!!!!!!!!!!!!!!!=="] {
            #expect(self.answer(base + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n") == .malformed)
        }
        #expect(self.answer(base + "Sec-WebSocket-Version: 13\r\n") == .malformed)
    }
}
