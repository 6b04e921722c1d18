import Boot
import GatewayPages
import SocketIOServer
import Testing

@testable import GatewayDaemon

/// Pages and the client for web pages, as the gateway serves them.
@Suite struct StaticFileTests {
    private func answer(_ path: String, known: String? = nil) throws -> HTTPResponse {
        try #require(StaticFile.at(path)).answer(known: known)
    }

    private func field(_ name: String, of response: HTTPResponse) -> String? {
        response.headers.first { $0.0 == name }?.1
    }

    @Test func aVersionNeverChanges() throws {
        let response = try self.answer("/client/\(BuildInfo.version)/touchsync.js")
        #expect(response.status == 200)
        #expect(self.field("content-type", of: response) == "text/javascript; charset=utf-8")
        #expect(self.field("cache-control", of: response)?.hasSuffix("immutable") == true)
        #expect(String(decoding: response.body, as: UTF8.self).contains("export class"))
    }

    @Test func thePresentVersionIsAskedForAgain() throws {
        #expect(self.field("cache-control", of: try self.answer("/client/touchsync.js")) == "public, max-age=300")
    }

    @Test func otherVersionsAreNotHere() {
        #expect(StaticFile.at("/client/0.0.1/touchsync.js") == nil)
        #expect(StaticFile.at("/client/") == nil)
    }

    @Test func pagesMayOnlyUseThisGateway() throws {
        let page = try self.answer("/")
        #expect(self.field("content-type", of: page) == "text/html; charset=utf-8")
        let policy = try #require(self.field("content-security-policy", of: page))
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"))
        #expect(!policy.contains("unsafe"))
    }

    /// A cache takes what a 304 says in place of what it has: without its policy a page that is opened again does nothing.
    @Test(arguments: ["/", "/app/robots.js"])
    func aCacheKeepsThePolicy(path: String) throws {
        let first = try self.answer(path)
        let policy = try #require(self.field("content-security-policy", of: first))
        let tag = try #require(self.field("etag", of: first))
        let again = try self.answer(path, known: tag)
        #expect(again.status == 304 && self.field("content-security-policy", of: again) == policy)
    }

    /// What a page names has to be there: nothing else is served.
    @Test(arguments: PageFile.all.filter { $0.kind == .page })
    func aPagesFilesAreServed(page: PageFile) {
        let text = String(decoding: page.content, as: UTF8.self)
        let named = text.matches(of: /(?:src|href)="(\/[^"]*)"/).map { String($0.output.1) }
        #expect(!named.isEmpty)
        for path in named { #expect(StaticFile.at(path) != nil, "\(path)") }
    }

    @Test(arguments: ["", "W/", "\"other\", "])
    func aCacheThatHasItGetsNoBody(prefix: String) throws {
        let path = "/client/touchsync.js"
        let tag = try #require(self.field("etag", of: try self.answer(path)))
        let response = try self.answer(path, known: prefix + tag)
        #expect(response.status == 304 && response.body.isEmpty)
        #expect(try self.answer(path, known: "\"other\"").status == 200)
    }
}
