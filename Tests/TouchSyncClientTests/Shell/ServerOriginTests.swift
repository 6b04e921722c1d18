import Testing

@testable import TouchSyncClient

/// Where a server is.
@Suite struct ServerOriginTests {
    @Test(arguments: [
        ("https://Touch.Example/app?x#y", "https://touch.example", "wss://touch.example"),
        ("http://touch.example:80", "http://touch.example", "ws://touch.example"),
        ("wss://touch.example:443/", "https://touch.example", "wss://touch.example"),
        ("ws://me:pass@127.0.0.1:8080", "http://127.0.0.1:8080", "ws://127.0.0.1:8080"),
        ("http://[::1]:8080/x", "http://[::1]:8080", "ws://[::1]:8080"),
        ("https://[::1]", "https://[::1]", "wss://[::1]"),
        ("http://touch.example:", "http://touch.example", "ws://touch.example"),
    ])
    func isSchemeHostAndPort(url: String, origin: String, socket: String) throws {
        let address = try #require(ServerOrigin(url))
        #expect(address.origin == origin && address.socketOrigin == socket)
    }

    @Test(arguments: [
        "http://", "http://:80", "http://a:b", "http://a:-1", "http://::1", "http://[::1", "http://a:65536", "//a",
    ])
    func anythingElseIsNone(url: String) {
        #expect(ServerOrigin(url) == nil)
    }
}
