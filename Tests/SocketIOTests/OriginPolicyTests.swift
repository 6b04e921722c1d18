import SocketIO
import Testing

@Suite struct OriginPolicyTests {
    private static var app: WebOrigin { get throws { try WebOrigin(parsing: "https://app.example.com") } }
    private static var policy: OriginPolicy { get throws { .only([try self.app]) } }

    private static func head(_ origin: String?, host: String = "api.example.com") throws -> HTTPRequestHead {
        try requestHead("GET / HTTP/1.1\r\nHost: \(host)\r\n\(origin.map { "Origin: \($0)\r\n" } ?? "")\r\n")
    }

    @Test(arguments: [
        ("api.example.com:443", "wss://api.example.com"), ("api.example.com", "wss://api.example.com:443"),
        ("api.example.com:80", "ws://api.example.com"), ("api.example.com", "ws://api.example.com:80"),
        ("API.example.com:443", "WSS://api.EXAMPLE.com"), ("api.example.com:8080", "ws://api.example.com:8080"),
        ("[::1]:443", "wss://[::1]"), ("[::1]:8080", "ws://[::1]:8080"), ("127.0.0.1:80", "ws://127.0.0.1"),
    ])
    func ownAddressIsAllowedWithItsDefaultPortOrWithout(host: String, origin: String) throws {
        #expect(try Self.policy.judge(Self.head(origin, host: host)) == .allowed)
    }

    @Test(arguments: [
        ("api.example.com:443", "ws://api.example.com"), ("api.example.com:80", "wss://api.example.com"),
        ("api.example.com:8080", "ws://api.example.com"), ("api.example.com", "ws://api.example.com:8080"),
        ("api.example.com", "wss://api.example.com.evil.io"), ("api.example.com", "wss://evil.io"),
        ("api.example.com", "ftp://api.example.com"), ("api.example.com", "api.example.com"),
        ("api.example.com", "wss:api.example.com"),
        ("api.example.com", "wss://api.example.com/"), ("api.example.com", "wss://x@api.example.com"),
        ("api.example.com", "wss://api.example.com:443x"), ("api.example.com", "wss://"), ("", "wss://"),
        ("api.example.com", "null"), ("[::1]", "wss://[::2]"), ("api.example.com", "https://APP.example.com"),
        ("api.example.com", "https://app.example.com:443"), ("api.example.com", "https://api.example.com"),
        ("api.example.com", "http://api.example.com"),
    ])
    func everyOtherPlaceIsRefused(host: String, origin: String) throws {
        #expect(try Self.policy.judge(Self.head(origin, host: host)) == .refused)
    }

    @Test func listedOriginAndNoneAreAllowedAndTwoAreMalformed() throws {
        #expect(try Self.policy.judge(Self.head("https://app.example.com")) == .allowed)
        #expect(try Self.policy.judge(Self.head(nil)) == .allowed)
        let twice = "https://app.example.com\r\nOrigin: https://app.example.com"
        #expect(try Self.policy.judge(Self.head(twice)) == .malformed)
        #expect(try OriginPolicy.any.judge(Self.head(twice)) == .malformed)
        #expect(try OriginPolicy.any.judge(Self.head("https://evil.io")) == .allowed)
    }

    @Test(arguments: [
        ("api.example.com", "https://api.example.com"), ("api.example.com", "http://api.example.com"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"), ("[::1]:8080", "http://[::1]:8080"),
        ("api.example.com:443", "https://api.example.com"), ("api.example.com", "https://API.example.com:443"),
        ("api.example.com", "https://app.example.com"), ("127.0.0.1:8080", "ws://127.0.0.1:8080"),
    ])
    func ownPagesAreAllowedBesideTheListed(host: String, origin: String) throws {
        #expect(try OriginPolicy.own(and: [Self.app]).judge(Self.head(origin, host: host)) == .allowed)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "http://127.0.0.1"), ("127.0.0.1:8080", "http://127.0.0.1:8081"),
        ("127.0.0.1:8080", "http://localhost:8080"), ("127.0.0.1:8080", "null"), ("127.0.0.1:8080", "file://"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080.evil.io"), ("127.0.0.1:8080", "ftp://127.0.0.1:8080"),
        ("127.0.0.1:8080", "https://app.example.com"), ("api.example.com", "https://api.example.com:8443"),
    ])
    func pagesOfOtherServersAreNoOwnPages(host: String, origin: String) throws {
        #expect(try OriginPolicy.own(and: []).judge(Self.head(origin, host: host)) == .refused)
    }

    @Test func ownPagesOfAServerWithTLSAreEncrypted() throws {
        let policy = OriginPolicy.own(and: [], isSecure: true)
        for origin in ["https://api.example.com", "wss://api.example.com:443"] {
            #expect(try policy.judge(Self.head(origin, host: "api.example.com")) == .allowed)
        }
        for origin in ["http://api.example.com", "http://api.example.com:443", "ws://api.example.com"] {
            #expect(try policy.judge(Self.head(origin, host: "api.example.com")) == .refused)
        }
        #expect(try policy.judge(Self.head("https://api.example.com", host: "api.example.com:8443")) == .refused)
    }

    @Test func ownPagesNeedNoPermissionToReadAnswers() throws {
        let policy = try OriginPolicy.own(and: [Self.app])
        #expect(try policy.allowedOrigin(for: Self.head("https://api.example.com")) == nil)
        #expect(try policy.allowedOrigin(for: Self.head("https://app.example.com")) == "https://app.example.com")
    }

    @Test func answerThatDependsOnTheOriginVariesWithIt() throws {
        func fields(_ policy: OriginPolicy, _ origin: String?) throws -> [String] {
            try policy.headers(for: Self.head(origin)).map { "\($0): \($1)" }
        }
        #expect(try fields(.any, "https://evil.io") == ["Access-Control-Allow-Origin: *"])
        #expect(
            try fields(Self.policy, "https://app.example.com") == [
                "Access-Control-Allow-Origin: https://app.example.com", "Access-Control-Allow-Credentials: true",
                "Vary: Origin",
            ])
        #expect(try fields(Self.policy, "https://evil.io") == ["Vary: Origin"])
        #expect(try fields(Self.policy, nil) == ["Vary: Origin"])
    }

    @Test func preflightOfARefusedOriginGrantsNothing() throws {
        func names(_ origin: String) throws -> [String] {
            try Self.policy.preflightHeaders(for: Self.head(origin), methods: "GET", fields: "X-A").map(\.0)
        }
        #expect(try names("https://evil.io") == ["Vary"])
        #expect(try names("https://app.example.com").contains("Access-Control-Allow-Methods"))
    }
}

@Suite struct WebOriginTests {
    @Test(arguments: [
        ("https://app.example.com", "https://app.example.com"), ("http://Example.com", "http://example.com"),
        ("http://h/", "http://h"), ("HTTPS://h:443/", "https://h"), ("http://h:80", "http://h"),
        ("http://h:443", "http://h:443"), ("https://h:08443", "https://h:8443"), ("wss://h:443", "wss://h"),
        ("http://[0:0::1]:3000", "http://[::1]:3000"), ("http://[2001:DB8:0:0:1:0:0:0]", "http://[2001:db8:0:0:1::]"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"), ("capacitor://localhost", "capacitor://localhost"),
        ("https://xn--mnchen-3ya.de", "https://xn--mnchen-3ya.de"), ("null", "null"), ("file://", "file://"),
    ])
    func isSpeltAsBrowsersSendIt(_ written: String, _ sent: String) throws {
        #expect(try WebOrigin(parsing: written).text == sent)
        #expect(try WebOrigin(parsing: sent).text == sent)
    }

    @Test(arguments: [
        ("foo", "scheme"), ("localhost:3000", "scheme"), ("", "scheme"), ("://h", "scheme"), ("1http://h", "scheme"),
        ("http://h/app", "path"), ("http://h//", "path"), ("http://h?x", "path"), ("http://me@h", "user"),
        ("http://", "host"), ("http:///", "host"), ("http://:80", "host"), ("http://a b", "host"),
        ("http://a..b", "host"), ("http://h:", "port"), ("http://h:0", "port"), ("http://h:65536", "port"),
        ("http://h:x", "port"), ("http://::1", "brackets"), ("http://[::g]", "brackets"),
        ("http://[127.0.0.1]", "brackets"),
        ("http://127.1", "four numbers"), ("http://010.0.0.1", "four numbers"), ("https://*.example.com", "wildcard"),
        ("https://münchen.de", "ASCII"), ("https://h\u{0}", "host"),
    ])
    func whatNoBrowserSendsIsRefusedByName(_ written: String, _ reason: String) {
        let refusal = #expect(throws: UnusableName.self) { try WebOrigin(parsing: written) }
        #expect(refusal?.reason.contains(reason) == true, "\(written): \(refusal?.reason ?? "none")")
    }

    @Test func refusalNamesTheOriginUnlessNoBrowserSendsIt() throws {
        func message(_ origin: String) throws -> String {
            OriginPolicy.message(for: try requestHead("GET / HTTP/1.1\r\nHost: h\r\nOrigin: \(origin)\r\n\r\n"))
        }
        #expect(try message("https://evil.io").hasPrefix("Pages of https://evil.io may not"))
        #expect(try message("https://evil.io").contains("setting origins"))
        for origin in ["https://é.io", "a b", String(repeating: "a", count: 257)] {
            #expect(try message(origin).hasPrefix("Pages of this origin may not"))
        }
    }
}

@Suite struct HostPolicyTests {
    private static func admits(_ fields: String) throws -> Bool {
        let policy = HostPolicy.loopback(and: [try ServerName(parsing: "API.example.com:8443")])
        return policy.admits(try requestHead("GET / HTTP/1.1\r\n\(fields)\r\n"))
    }

    @Test(arguments: [
        "http://h", "h/", "::1", "h:0", "h:x", "", ":80", "*", "*.example.com", "a b", "[::1", "münchen.de", "1.2.3",
    ])
    func nameThatNoRequestHasIsRefused(_ name: String) {
        #expect(throws: UnusableName.self) { try ServerName(parsing: name) }
    }

    @Test(arguments: [
        "localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8080", "api.example.com:8443",
    ])
    func ownNamesAreAdmitted(_ host: String) throws { #expect(try Self.admits("Host: \(host)\r\n")) }

    @Test(arguments: [
        "evil.io", "evil.io:8080", "localhost.evil.io", "127.0.0.1.evil.io", "api.example.com", "api.example.com:443",
        "127.0.0.1:x", "127.0.0.2", "::1", "[::2]", "localhost:8080:1", "xlocalhost", "localhost.",
    ])
    func otherNamesAreRefused(_ host: String) throws { #expect(try !Self.admits("Host: \(host)\r\n")) }

    @Test func withoutAListEveryNameIsAdmitted() throws {
        #expect(HostPolicy.any.admits(try requestHead("GET / HTTP/1.1\r\nHost: evil.io\r\n\r\n")))
    }
}
