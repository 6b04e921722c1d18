import Testing

@testable import TouchSyncClient

@Suite struct TransportURLTests {
    @Test(arguments: [
        ("ws://a", "a", 80, "/", "a"),
        ("WSS://a.example", "a.example", 443, "/", "a.example"),
        (
            "ws://a:8080/socket.io/?EIO=4&transport=websocket", "a", 8080, "/socket.io/?EIO=4&transport=websocket",
            "a:8080"
        ),
        ("wss://a:80?b", "a", 80, "/?b", "a:80"),
        ("ws://a:80/%7e//?a?b=@:", "a", 80, "/%7e//?a?b=@:", "a"),
        ("ws://[::1]:443/x", "::1", 443, "/x", "[::1]:443"),
        ("wss://[2001:db8::1.2.3.4]", "2001:db8::1.2.3.4", 443, "/", "[2001:db8::1.2.3.4]"),
        ("ws://xn--bcher-kva.example", "xn--bcher-kva.example", 80, "/", "xn--bcher-kva.example"),
    ])
    func partsOfValidURLs(_ text: String, _ host: String, _ port: Int, _ target: String, _ authority: String) throws {
        let url = try TransportURL(text, .webSocket)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.target == target)
        #expect(url.authority == authority)
        #expect(url.isSecure == text.lowercased().hasPrefix("wss"))
    }

    @Test(arguments: [
        "", "a", "ws", "ws:", "ws:/a", "ws//a", "://a", " ws://a", "http://a", "wsss://a", "ws://", "ws:///a",
        "ws://?a",
        "ws://:80", "ws://a:", "ws://a:0", "ws://a:65536", "ws://a:99999999999999999999", "ws://a:+1", "ws://a:-1",
        "ws://a:8 0", "ws://a:٣", "ws://user@a", "ws://user:secret@a", "ws://a@b:1", "ws://a b", "ws://a\tb",
        "ws://a\r\nb",
        "ws://a\u{0}", "ws://ä", "ws://a#b", "ws://a/#b", "ws://a/b c", "ws://a/\r\nHost: b", "ws://a/\u{7F}",
        "ws://a/ä",
        "ws://a/%", "ws://a/%4", "ws://a/%4g", "ws://a/{}", #"ws://a/"b""#, #"ws://a/\b"#, #"ws://a\b"#, "ws://[::1",
        "ws://[]", "ws://[a]", "ws://[::1]a", "ws://[::1]:", "ws://[fe80::1%25eth0]", "ws://[::g]", "ws://::1",
        "ws://a%41",
        "ws://" + String(repeating: "a", count: 254),
    ])
    func othersAreRefused(_ text: String) {
        #expect(throws: TransportError.self) { try TransportURL(text, .webSocket) }
    }

    @Test func eachRequestHasItsSchemes() throws {
        #expect(try TransportURL("https://a", .http).port == 443)
        #expect(try TransportURL("http://a", .http).isSecure == false)
        #expect(throws: TransportError.self) { try TransportURL("wss://a", .http) }
        #expect(throws: TransportError.self) { try TransportURL("https://a", .webSocket) }
    }

    @Test(arguments: ["", " ", "a b", "a\r\nInjected: b", "a\n", "\ta", "a\u{0}", "ä", "a\u{7F}"])
    func tokensThatNoHeaderHoldsAreRefused(_ token: String) {
        #expect(throws: TransportError.self) { try BearerToken.header(token) }
    }

    @Test func tokensStandBehindTheirScheme() throws {
        #expect(try BearerToken.header("a.b-c_d~e+f/g==") == "Bearer a.b-c_d~e+f/g==")
    }
}
