import ArgumentParser
import Boot
import Stages
import Testing

@testable import OperatorDaemon

@Suite struct CommandTests {
    private func message(_ arguments: [String]) -> String {
        do {
            _ = try TouchSyncCommand.parseAsRoot(arguments)
            return "accepted"
        } catch {
            return TouchSyncCommand.message(for: error)
        }
    }

    @Test func upTakesItsOwnOptionsAndHandsTheOthersOn() throws {
        let parsed = try TouchSyncCommand.parseAsRoot([
            "up", "--port", "9000", "--data", "/d", "--gateways", "2", "--log-level", "debug", "--json", "--x=1",
        ])
        let command = try #require(parsed as? UpCommand)
        #expect(command.port == 9000 && command.data == "/d" && command.gateways == 2 && command.json)
        #expect(command.settings == ["--log-level", "debug", "--x=1"])
    }

    @Test(arguments: [
        (["up", "--gateways", "0"], "--gateways must be a whole number from 1 to 64, not 0"),
        (["up", "--port", "65535", "--gateways", "2"], "--port must leave room for 2 ports up to 65535, not 65535"),
        (["up", "--port", "x"], "The value 'x' is invalid for '--port <port>'"),
        (
            ["token", "--user", "u", "--room", "a b"],
            "--room must be 1 to 64 letters, digits, and _ . : -, or *, not \"a b\""
        ),
        (
            ["token", "--user", "u", "--room", "a", "--ttl", "0"],
            "--ttl must be a whole number of seconds from 1, not 0"
        ),
        (
            ["token", "--user", "u", "--room", "a", "--right", "own"],
            "The value 'own' is invalid for '--right <right>'"
        ),
        (["token", "--user", "u"], "Missing expected argument '--room <room> ...'"),
        (["nope"], "Unexpected argument 'nope'"),
        (["room", "export", "a b"], "The value 'a b' is invalid for '<room>'"),
        (["room", "export", "*"], "The value '*' is invalid for '<room>'"),
        (["room", "import"], "Missing expected argument '<room>'"),
    ])
    func aWrongOptionIsNamed(_ arguments: [String], _ expected: String) {
        #expect(self.message(arguments).contains(expected), "\(self.message(arguments))")
    }

    @Test func otherCommandsTakeSettingsToo() throws {
        let parsed = try TouchSyncCommand.parseAsRoot(["token", "--user", "u", "--room", "r", "--jwt-issuer", "i"])
        let command = try #require(parsed as? TokenCommand)
        #expect(try command.settings.values(.gateway)[SharedSettings.jwtIssuer] == "i")
        let wrong = try TouchSyncCommand.parseAsRoot(["token", "--user", "u", "--room", "r", "--rigth", "view"])
        let failure = #expect(throws: OperatorFailure.self) {
            try (wrong as? TokenCommand)?.settings.values(.gateway)
        }
        #expect(failure?.description == "--rigth: is no setting of touchsync-gateway; see --help (command line)")
        #expect(failure?.exitCode == 78)
    }

    @Test func aCommandOnARoomTakesTheDatabasesSettings() throws {
        let parsed = try TouchSyncCommand.parseAsRoot(
            ["room", "delete", "demo", "--yes", "--database-url", "postgresql:///a", "--log-level", "debug"])
        let command = try #require(parsed as? RoomDeleteCommand)
        #expect(command.room.id == "demo" && command.yes && !command.json)
        #expect(command.database.databaseUrl == "postgresql:///a")
        #expect(command.database.settings.settings == ["--log-level", "debug"])
    }

    @Test func roomIds() {
        for room in ["*", "r1", "a_b.c:d-e", String(repeating: "a", count: 64)] {
            #expect(TokenCommand.isRoom(room), "\(room)")
        }
        for room in ["", "a*", "a/b", "é", "\u{212A}", String(repeating: "a", count: 65)] {
            #expect(!TokenCommand.isRoom(room), "\(room)")
        }
    }

    @Test func findingsForPeopleAndForScripts() {
        let findings = [Finding.ok("libzmq", "4.3.4"), .fail("port 80", "in use", "choose another")]
        #expect(
            Finding.text(findings) == "ok    libzmq   4.3.4\nfail  port 80  in use\n             → choose another\n")
        #expect(
            Finding.json(findings)
                == #"{"ok":false,"checks":[{"check":"libzmq","grade":"ok","detail":"4.3.4","remedy":null},"#
                + #"{"check":"port 80","grade":"fail","detail":"in use","remedy":"choose another"}]}"# + "\n")
    }
}
