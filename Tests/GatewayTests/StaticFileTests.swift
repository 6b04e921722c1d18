import Boot
import GatewayPages
import SocketIOServer
import Testing

@testable import GatewayDaemon

/// Pages and the client for web pages, as the gateway serves them.
@Suite struct StaticFileTests {
    private func answer(_ path: String, known: String? = nil, encodings: String? = nil) throws -> HTTPResponse {
        let server = try AppServer(SettingValues(defaultsOf: GatewaySettings.schema), hasTokens: false)
        return try #require(StaticFile.at(path)).answer(known: known, encodings: encodings, with: server)
    }

    private func field(_ name: String, of response: HTTPResponse) -> String? {
        response.headers.first { $0.0 == name }?.1
    }

    @Test func aVersionNeverChanges() throws {
        let response = try self.answer("/client/\(BuildInfo.version)/touchsync.js")
        #expect(response.status == 200)
        #expect(self.field("content-type", of: response) == "text/javascript; charset=utf-8")
        #expect(self.field("cache-control", of: response)?.hasSuffix("immutable") == true)
        let exportsTheClient = String(decoding: response.body, as: UTF8.self).contains("export class TouchSync ")
        #expect(exportsTheClient)
        // Another module finds this one beside itself.
        let projection = try self.answer("/client/\(BuildInfo.version)/projection.js")
        let importsTheClient = String(decoding: projection.body, as: UTF8.self).contains(#"from"./touchsync.js""#)
        #expect(importsTheClient)
        let store = try self.answer("/client/\(BuildInfo.version)/store.js")
        let exportsTheStore = String(decoding: store.body, as: UTF8.self).contains("export class IndexedDBStore")
        #expect(exportsTheStore)
        let react = try self.answer("/client/\(BuildInfo.version)/react.js")
        let importsReact = String(decoding: react.body, as: UTF8.self).contains(#"from"react""#)
        #expect(importsReact)
        let types = try self.answer("/client/\(BuildInfo.version)/touchsync.d.ts")
        #expect(self.field("content-type", of: types) == "text/plain; charset=utf-8")
        let declaresTheClient = String(decoding: types.body, as: UTF8.self).contains("export class TouchSync ")
        #expect(declaresTheClient)
    }

    @Test(arguments: ["/client/touchsync.js", "/", "/app/canvas.js", "/app/page.css"])
    func whoReadsGzipGetsLessThanHalf(path: String) throws {
        let (plain, compressed) = (try self.answer(path), try self.answer(path, encodings: "br, gzip"))
        #expect(self.field("content-encoding", of: plain) == nil)
        #expect(self.field("content-encoding", of: compressed) == "gzip")
        #expect(compressed.body.starts(with: [0x1F, 0x8B]) && compressed.body.count < plain.body.count / 2)
        // A cache keeps the two apart.
        #expect([plain, compressed].allSatisfy { self.field("vary", of: $0) == "accept-encoding" })
        let tag = try #require(self.field("etag", of: compressed))
        #expect(try self.answer(path, known: tag, encodings: "gzip").status == 304)
        #expect(try self.answer(path, known: tag).status == 200)
        // Few ask for a source map.
        #expect(
            self.field("content-encoding", of: try self.answer("/client/touchsync.js.map", encodings: "gzip")) == nil)
    }

    @Test(arguments: [
        ("gzip", true), ("br, GZIP ; q=0.5", true), ("x-gzip", true), ("*", true), ("*;q=0, gzip", true),
        ("gzip;q=0, *", false), ("gzip; q=0.000", false), ("gzip;q=x", false), ("br", false), ("", false),
        ("*;q=0", false), ("gzipped", false), (",;q=1,;", false),
    ])
    func gzipIsSentToWhoNamesIt(field: String, _ isAllowed: Bool) {
        #expect(AcceptEncoding(field).allowsGzip == isAllowed)
    }

    @Test func theSourceIsThereToRead() throws {
        let source = String(decoding: try self.answer("/client/touchsync.src.js").body, as: UTF8.self)
        let (exportsTheClient, hasComments) = (source.contains("export class TouchSync "), source.contains("/**"))
        #expect(exportsTheClient && hasComments)
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
