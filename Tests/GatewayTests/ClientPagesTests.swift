import Boot
import SocketIOServer
import Testing

@testable import GatewayDaemon

/// The client for web pages, as the gateway serves it.
@Suite struct ClientPagesTests {
    private func field(_ name: String, of response: HTTPResponse?) -> String? {
        response?.headers.first { $0.0 == name }?.1
    }

    @Test func aVersionNeverChanges() {
        let path = "/client/\(BuildInfo.version)/touchsync.js"
        let response = ClientPages.answer(path: path, known: nil)
        #expect(response?.status == 200)
        #expect(self.field("content-type", of: response) == "text/javascript; charset=utf-8")
        #expect(self.field("cache-control", of: response)?.hasSuffix("immutable") == true)
        #expect(response.map { String(decoding: $0.body, as: UTF8.self).contains("export class") } == true)
    }

    @Test func thePresentVersionIsAskedForAgain() {
        let response = ClientPages.answer(path: "/client/touchsync.js", known: nil)
        #expect(self.field("cache-control", of: response) == "public, max-age=300")
    }

    @Test func otherVersionsAreNotHere() {
        #expect(ClientPages.answer(path: "/client/0.0.1/touchsync.js", known: nil) == nil)
        #expect(ClientPages.answer(path: "/client/", known: nil) == nil)
    }

    @Test(arguments: ["", "W/", "\"other\", "])
    func aCacheThatHasItGetsNoBody(prefix: String) throws {
        let path = "/client/touchsync.js"
        let tag = try #require(self.field("etag", of: ClientPages.answer(path: path, known: nil)))
        let response = ClientPages.answer(path: path, known: prefix + tag)
        #expect(response?.status == 304 && response?.body.isEmpty == true)
        #expect(ClientPages.answer(path: path, known: "\"other\"")?.status == 200)
    }
}
