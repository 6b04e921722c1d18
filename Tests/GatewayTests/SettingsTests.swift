import Boot
import SocketIO
import SocketIOServer
import Testing

@testable import GatewayDaemon

/// What an operator's settings mean for who may come in.
@Suite struct DoorSettingsTests {
    private static func settings(_ changes: (inout SettingValues) -> Void) throws(SettingProblem) -> GatewaySettings {
        var values = SettingValues(defaultsOf: GatewaySettings.schema)
        for (setting, name) in [
            (SharedSettings.coalescers, "c"), (SharedSettings.committers, "w"), (SharedSettings.fanouts, "f"),
        ] {
            values.set(setting, [PeerAddress(name: name, endpoint: "ipc:///tmp/\(name)")])
        }
        changes(&values)
        return try GatewaySettings(values)
    }

    @Test func withoutKeysOnlyLoopbackIsServed() throws {
        let local = try Self.settings { _ in }
        #expect(!local.isOpenToOthers)
        let problem = #expect(throws: SettingProblem.self) {
            try Self.settings { $0.set(GatewaySettings.host, "0.0.0.0") }
        }
        #expect(problem?.subject == "--host")
        #expect(problem?.complaint.contains("--open") == true)
        let open = try Self.settings {
            $0.set(GatewaySettings.host, "0.0.0.0")
            $0.set(SharedSettings.open, true)
        }
        #expect(open.isOpenToOthers)
        let guarded = try Self.settings {
            $0.set(GatewaySettings.host, "0.0.0.0")
            $0.set(SharedSettings.jwtSecret, "0123456789abcdef0123456789abcdef")
        }
        #expect(!guarded.isOpenToOthers && guarded.tokens != nil)
    }

    @Test(arguments: [
        ([], OriginPolicy.own(and: [])), (["same-origin", "https://a"], .own(and: ["https://a"])),
        (["https://a"], .only(["https://a"])), (["https://a", "*"], .any),
    ])
    func originsMayBeOurOwnListedOrAll(_ list: [String], _ policy: OriginPolicy) throws {
        let settings = try Self.settings { if !list.isEmpty { $0.set(GatewaySettings.origins, list) } }
        #expect(settings.socketIO.origins == policy)
    }

    @Test func loopbackGoesByItsOwnNamesAndOtherAddressesByAny() throws {
        let local = try Self.settings { _ in }
        #expect(local.hosts == .only(["localhost", "127.0.0.1", "[::1]", "127.0.0.1"]))
        let elsewhere = try Self.settings {
            $0.set(GatewaySettings.host, "10.0.0.1")
            $0.set(SharedSettings.open, true)
        }
        #expect(elsewhere.hosts == .any)
        let listed = try Self.settings { $0.set(GatewaySettings.hosts, ["a:1"]) }
        #expect(listed.hosts == .only(["a:1"]))
    }

    @Test func revocationsNeedTokens() {
        let problem = #expect(throws: SettingProblem.self) {
            try Self.settings { $0.set(TokenSettings.revocations, "/dev/null") }
        }
        #expect(problem?.subject == "--revocations")
    }
}
