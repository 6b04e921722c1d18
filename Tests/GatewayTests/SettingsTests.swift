import Boot
import Glibc
import PipelineTestKit
import SocketIO
import SocketIOServer
import TLSTestKit
import Testing

@testable import GatewayDaemon

/// What an operator's settings mean for who may come in.
@Suite struct AdmissionSettingsTests {
    private static func settings(_ changes: (inout SettingValues) -> Void) throws(SettingProblem) -> GatewaySettings {
        var values = SettingValues(defaultsOf: GatewaySettings.schema)
        for (setting, name) in [
            (SharedSettings.coalescers, "c"), (SharedSettings.committers, "w"), (SharedSettings.fanouts, "f"),
        ] {
            values.set(setting, .list([PeerAddress(name: name, endpoint: "ipc:///tmp/\(name)")]))
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

    @Test func plainLinksStayOnThisMachine() throws {
        let far = [PeerAddress(name: "c", endpoint: "tcp://10.0.0.2:7100")]
        let problem = #expect(throws: SettingProblem.self) {
            try Self.settings { $0.set(SharedSettings.coalescers, .list(far)) }
        }
        #expect(problem?.subject == "--coalescers" && problem?.complaint.contains("link-key-file") == true)
    }

    @Test(arguments: [
        ([], ["http://own"], ["https://a"]),
        (["same-origin", "https://a"], ["http://own", "https://a"], ["https://b"]),
        (["https://A:443/"], ["http://own", "https://a"], ["https://b"]), (["none"], [], ["http://own", "https://a"]),
        (["https://a", "*"], ["http://own", "https://b"], []),
    ])
    func pagesOfOurOwnAndOfTheListedAreAdmitted(_ list: [String], _ admitted: [String], _ refused: [String]) throws {
        let policy = try Self.settings { if !list.isEmpty { $0.set(GatewaySettings.origins, list) } }.socketIO.origins
        func verdict(_ origin: String) throws -> OriginPolicy.Verdict {
            let text = Array("GET / HTTP/1.1\r\nHost: own\r\nOrigin: \(origin)\r\n\r\n".utf8)
            var (parser, offset) = (HTTPRequestParser(limits: HTTPLimits()), 0)
            let event = text.withUnsafeBytes { parser.next($0, at: &offset) }
            guard case .head(let head)? = event else { return .malformed }
            return policy.judge(head)
        }
        for origin in admitted + ["ws://own"] { #expect(try verdict(origin) == .allowed, "\(origin)") }
        for origin in refused { #expect(try verdict(origin) == .refused, "\(origin)") }
    }

    @Test func proxyOnThisMachineIsTrustedOnBothAddressesOfLoopback() throws {
        func trusts(_ list: [String], _ address: String) throws -> Bool {
            let settings = try Self.settings { $0.set(GatewaySettings.trustedProxies, list) }
            return settings.socketIO.proxies.contains(try #require(IPAddress(address)))
        }
        #expect(try trusts(["127.0.0.1"], "::1") && trusts(["127.0.0.0/8"], "::1") && trusts(["::1"], "::1"))
        #expect(try !trusts(["10.0.0.0/8"], "::1") && !trusts(["::1"], "127.0.0.1"))
    }

    /// An item that can match nothing is a mistake that shows at the first page otherwise.
    @Test(arguments: [
        (GatewaySettings.origins, "foo"), (GatewaySettings.origins, "localhost:3000"),
        (GatewaySettings.origins, "https://h/app"), (GatewaySettings.origins, "https://*.h"),
        (GatewaySettings.hosts, "http://h"), (GatewaySettings.hosts, "::1"), (GatewaySettings.hosts, "*"),
        (GatewaySettings.trustedProxies, "proxy"), (GatewaySettings.trustedProxies, "10.0.0.0/33"),
    ])
    func itemsThatMatchNothingAreRefusedByName(_ setting: Setting<[String]>, _ item: String) {
        let problem = #expect(throws: SettingProblem.self) { try Self.settings { $0.set(setting, [item]) } }
        #expect(problem?.subject == setting.flag)
        #expect(problem?.complaint.hasPrefix("\"\(item)\" ") == true, "\(problem?.complaint ?? "none")")
        let mixed = #expect(throws: SettingProblem.self) {
            try Self.settings { $0.set(GatewaySettings.origins, ["none", "https://a"]) }
        }
        #expect(mixed?.complaint == "\"none\" stands alone")
    }

    /// Without it previews would wait that nothing sends on: nobody says so when there is space again.
    @Test(arguments: [65_536, 300_000, 1_048_576, 67_108_864])
    func aConnectionThatIsWritableHasSpaceForPreviews(bytes: Int) throws {
        let settings = try Self.settings { $0.set(GatewaySettings.maxBuffered, bytes) }.socketIO
        #expect(settings.maxBufferedBytes == bytes && settings.writeHighWater < bytes / 4)
        #expect(settings.writeLowWater < settings.writeHighWater)
        let isUsual = settings.writeHighWater == 65_536 && settings.writeLowWater == 16_384
        #expect(isUsual == (bytes >= 524_288))
    }

    @Test func loopbackGoesByItsOwnNamesAndOtherAddressesByAny() throws {
        let local = try Self.settings { _ in }
        #expect(local.hosts == .loopback(and: [try ServerName(parsing: "127.0.0.1")]))
        let elsewhere = try Self.settings {
            $0.set(GatewaySettings.host, "10.0.0.1")
            $0.set(SharedSettings.open, true)
        }
        #expect(elsewhere.hosts == .any)
        let listed = try Self.settings { $0.set(GatewaySettings.hosts, ["a:1"]) }
        #expect(listed.hosts == .only([try ServerName(parsing: "a:1")]))
    }

    @Test func certificateAndKeyNeedEachOther() {
        for (setting, other) in [(TLSSettings.certificate, "tls-key"), (TLSSettings.key, "tls-certificate")] {
            let problem = #expect(throws: SettingProblem.self) { try Self.settings { $0.set(setting, "/dev/null") } }
            #expect(problem?.subject == setting.flag)
            #expect(problem?.complaint == "needs \(other), too")
        }
    }

    @Test func keyMustBeTheCertificatesAndKeptFromOthers() throws {
        let (one, other) = (try TestCertificate(), try TestCertificate())
        let folder = try TemporaryFolder()
        func problem(_ certificate: String, _ key: String, mode: mode_t = 0o600) throws -> SettingProblem? {
            let paths = (try folder.write(certificate, to: "chain.pem"), try folder.write(key, to: "key.pem", mode))
            do throws(SettingProblem) {
                let settings = try Self.settings {
                    $0.set(TLSSettings.certificate, paths.0)
                    $0.set(TLSSettings.key, paths.1)
                }
                #expect(settings.socketIO.origins == .own(and: [], isSecure: true))
                #expect(settings.socketIO.tls == settings.tls?.identity)
                return nil
            } catch {
                return error
            }
        }
        #expect(try problem(one.certificate, one.key) == nil)
        #expect(try problem(one.certificate + other.certificate, one.key, mode: 0o640) == nil)
        for (certificate, key, mode, subject, complaint) in [
            (one.certificate, one.key, 0o644, "--tls-key", "every user"),
            (one.certificate, one.key, 0o602, "--tls-key", "every user"),
            (one.certificate, other.key, 0o600, "--tls-key", "is not the key of the certificate"),
            (one.certificate, "", 0o600, "--tls-key", "no PEM private key"),
            ("", one.key, 0o600, "--tls-certificate", "no PEM certificate"),
        ] as [(String, String, mode_t, String, String)] {
            let problem = try problem(certificate, key, mode: mode)
            #expect(problem?.subject == subject)
            #expect(problem?.complaint.contains(complaint) == true, "\(problem?.complaint ?? "none")")
        }
        let missing = #expect(throws: SettingProblem.self) {
            try Self.settings {
                $0.set(TLSSettings.certificate, "\(folder.path)/none.pem")
                $0.set(TLSSettings.key, "\(folder.path)/key.pem")
            }
        }
        #expect(missing?.subject == "--tls-certificate")
    }

    @Test func thePageUsesTheAppsServerAsFarAsItIsTold() throws {
        func server(_ changes: (inout SettingValues) -> Void) throws(SettingProblem) -> AppServer {
            try Self.settings {
                $0.set(SharedSettings.jwtSecret, "0123456789abcdef0123456789abcdef")
                changes(&$0)
            }.appServer
        }
        let none = try server { _ in }
        #expect(none.connections.isEmpty && none.pictureOrigins.isEmpty)
        let one = try server {
            $0.set(AppServer.inviteURL, "https://app.example/invite")
            $0.set(AppServer.uploadURL, "https://App.example:443/upload?to=rooms")
        }
        #expect(one.connections == ["https://app.example"] && one.pictureOrigins == ["https://app.example"])
        let several = try server {
            $0.set(AppServer.inviteURL, "https://app.example")
            $0.set(AppServer.uploadURL, "http://127.0.0.1:8000/upload")
            $0.set(AppServer.pictureOrigins, ["https://a.example", "http://[::1]:80"])
        }
        #expect(several.connections == ["https://app.example", "http://127.0.0.1:8000"])
        #expect(several.pictureOrigins == ["https://a.example", "http://[::1]"])
        let json = String(decoding: several.json, as: UTF8.self)
        #expect(
            json == #"{"inviteUrl":"https://app.example","uploadUrl":"http://127.0.0.1:8000/upload","#
                + #""pictureOrigins":["https://a.example","http://[::1]"]}"#)
    }

    @Test(arguments: [
        "upload", "javascript:1", "https://", "https://user@a.example/", "https://a.example; script-src *",
    ])
    func addressesOfTheAppsServerThatAreNoneAreRefused(_ address: String) {
        for setting in [AppServer.inviteURL, AppServer.uploadURL] {
            let problem = #expect(throws: SettingProblem.self) {
                try Self.settings {
                    $0.set(SharedSettings.jwtSecret, "0123456789abcdef0123456789abcdef")
                    $0.set(setting, address)
                }
            }
            #expect(problem?.subject == setting.flag)
            let open = #expect(throws: SettingProblem.self) {
                try Self.settings { $0.set(setting, "https://a.example/") }
            }
            #expect(open?.complaint.hasPrefix("needs jwt-secret") == true)
        }
    }

    @Test(arguments: [
        "https://a.example/pictures", "*", "http://a.example", "http://localhost@a.example", "https://*.example",
        "data:",
    ])
    func originsOfNoPicturesAreRefused(_ origin: String) {
        let problem = #expect(throws: SettingProblem.self) {
            try Self.settings { $0.set(AppServer.pictureOrigins, [origin]) }
        }
        #expect(problem?.subject == "--picture-origins")
    }

    @Test func revocationsNeedTokens() {
        let problem = #expect(throws: SettingProblem.self) {
            try Self.settings { $0.set(TokenSettings.revocations, "/dev/null") }
        }
        #expect(problem?.subject == "--revocations")
    }
}

extension TemporaryFolder {
    /// Writes a file with this mode; its path.
    fileprivate func write(_ text: String, to name: String, _ mode: mode_t = 0o600) throws -> String {
        let file = "\(self.path)/\(name)"
        unlink(file)
        try #require(FileBytes.replace(file, with: Array(text.utf8)) == nil)
        chmod(file, mode)
        return file
    }
}
