import SocketIO
import Testing

@Suite struct HTTPRelayTests {
    private func relayed(_ text: String, body: String = "", client: String? = "10.0.0.9") throws -> String {
        String(
            decoding: HTTPRelay.request(try requestHead(text), body: bytes(body), client: client), as: UTF8.self)
    }

    @Test func whatConcernsOneConnectionStaysBehind() throws {
        let text =
            "GET /socket.io/?EIO=4&sid=a%2Eb HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Private\r\nTE: trailers\r\n"
            + "X-Private: 1\r\nKeep-Alive: 5\r\nCookie: a=b\r\nx-forwarded-for: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n\r\n"
        #expect(
            try self.relayed(text)
                == "GET /socket.io/?EIO=4&sid=a%2Eb HTTP/1.1\r\nHost: h\r\nCookie: a=b\r\n"
                + "X-Forwarded-For: 1.1.1.1, 2.2.2.2, 10.0.0.9\r\nX-SocketIO-Relayed: 1\r\n\r\n")
    }

    @Test func aBodyIsSentByItsLength() throws {
        let text = "POST /s?q HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
        #expect(
            try self.relayed(text, body: "4ab", client: nil)
                == "POST /s?q HTTP/1.1\r\nHost: h\r\nX-SocketIO-Relayed: 1\r\nContent-Length: 3\r\n\r\n4ab")
        #expect(
            try self.relayed("POST /s HTTP/1.0\r\nContent-Length: 0\r\n\r\n", client: nil)
                == "POST /s HTTP/1.1\r\nHost: \r\nX-SocketIO-Relayed: 1\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func anUpgradeStaysOneAndIsReadAsTheSame() throws {
        let text = RawClient.upgrade("/s?sid=x", headers: "Origin: ws://localhost\r\n")
        let there = try requestHead(try self.relayed(text))
        let here = try requestHead(text)
        #expect(WebSocketHandshake.answer(to: there) == WebSocketHandshake.answer(to: here))
        #expect(there.header("origin") == "ws://localhost" && there.query == "sid=x")
        #expect(HTTPRelay.isRelayed(there) && !HTTPRelay.isRelayed(here))
    }

    private func read(_ text: String, size: Int) throws(HTTPResponseReader.Malformed) -> (HTTPResponseHead, rest: Int)?
    {
        var reader = HTTPResponseReader(limits: HTTPLimits())
        let input = bytes(text)
        for start in stride(from: 0, to: input.count, by: size) {
            let piece = Array(input[start..<min(start + size, input.count)])
            var offset = 0
            let result = piece.withUnsafeBytes { raw in
                Result { () throws(HTTPResponseReader.Malformed) in try reader.next(raw, at: &offset) }
            }
            let head = try result.get()
            if let head { return (head, input.count - start - offset) }
        }
        return nil
    }

    @Test(arguments: [1, 2, 7, 1000]) func anAnswerIsReadInPiecesOfAnySize(_ size: Int) throws {
        let text =
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nconnection: close\r\nContent-Length: 3\r\n\r\nabc"
        let (head, rest) = try #require(try self.read(text, size: size))
        #expect(head.status == 200 && head.contentLength == 3 && !head.keepsAlive && rest == 3)
        #expect(head.headers.map(\.0) == ["Content-Type"] && head.header("content-type") == "text/plain")
        let (switching, _) = try #require(
            try self.read("HTTP/1.1 101 S\r\nSec-WebSocket-Accept: x\r\n\r\n", size: size))
        #expect(switching.status == 101 && switching.header("sec-websocket-accept") == "x")
        #expect(try self.read("HTTP/1.1 204 No Content\r\n\r", size: size) == nil)
    }

    @Test(arguments: [
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "\r\n\r\n", "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\u{0}\r\n\r\n", "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 20_000),
    ])
    func whatNoServerOfOursAnswersIsMalformed(_ text: String) {
        #expect(throws: HTTPResponseReader.Malformed.self) { try self.read(text, size: 1000) }
    }
}
