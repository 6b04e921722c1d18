import Testing

@testable import SocketIOServer

/// Two servers behind a proxy, which finds the one that has a session by its id.
@Suite struct SeveralServersTests {
    private static let poll = "/engine.io/?EIO=4&transport=polling&sid="
    private static let socket = "/engine.io/?EIO=4&transport=websocket&sid="
    private static let unknown = #"{"code":1,"message":"Session ID unknown"}"#

    private let owner: ServerFixture
    private let other: ServerFixture

    init() throws {
        self.owner = try ServerFixture { $0.name = "a" }
        self.other = try ServerFixture { $0.name = "a.b" }
    }

    private func foreignSessions(_ server: ServerFixture) throws -> UInt64 {
        try server.onLoop { server, _ in server.statistics.foreignSessions }
    }

    @Test func aSessionIsKnownToItsOwnServerAlone() throws {
        let sid = try self.owner.openPolling(self.owner.client(), path: "/engine.io/")
        #expect(sid.hasPrefix("a.") && sid.count == 22)
        let stranger = try self.other.client()
        let answer = try stranger.ask(RawClient.get(Self.poll + sid))
        #expect(answer.status == 400 && answer.body == Self.unknown)
        // Whose body is not read.
        #expect(try stranger.ask(RawClient.post(Self.poll + sid, "4lost")).body == Self.unknown)
        #expect(try self.other.client().ask(RawClient.upgrade(Self.socket + sid)).status == 400)
        #expect(try self.foreignSessions(self.other) == 3)
        let client = try self.owner.client()
        #expect(try client.ask(RawClient.post(Self.poll + sid, "4hello")).body == "ok")
        #expect(try client.ask(RawClient.get(Self.poll + sid)).body == "4hello")
        #expect(try self.foreignSessions(self.owner) == 0)
    }

    @Test func theNameBeforeAnIDIsNoWayIn() throws {
        let sid = try self.owner.openPolling(self.owner.client(), path: "/engine.io/")
        let secret = sid.dropFirst(2)
        for text in [String(secret), "b.\(secret)", "a.b.\(secret)", "a..\(secret)", "A.\(secret)"] {
            #expect(try self.owner.client().ask(RawClient.get(Self.poll + text)).body == Self.unknown, "\(text)")
        }
        #expect(try self.foreignSessions(self.owner) == 5)
        // What is no id of any server, and a session that this one does not have.
        for text in ["", "a.", "a.\(secret.dropLast())", "a.\(secret.dropLast())~", "a.AAAAAAAAAAAAAAAAAAAA"] {
            #expect(try self.owner.client().ask(RawClient.get(Self.poll + text)).body == Self.unknown, "\(text)")
        }
        #expect(try self.foreignSessions(self.owner) == 5)
    }

    @Test func anUpgradeKeepsTheID() throws {
        let sid = try self.owner.openPolling(self.owner.client(), path: "/engine.io/")
        let socket = try self.owner.client()
        #expect(try socket.ask(RawClient.upgrade(Self.socket + sid)).status == 101)
        socket.sendText("2probe")
        #expect(try socket.message() == "3probe")
        socket.sendText("5")
        socket.sendText("4hello")
        #expect(try socket.message() == "4hello")
    }
}
