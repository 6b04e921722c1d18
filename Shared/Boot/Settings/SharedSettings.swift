package import Logging

/// How log lines look.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: one line, `key=value` behind the message.
    case text
    /// For machines: one JSON object a line.
    case json
}

/// Settings that more than one daemon has; each is declared here once.
package enum SharedSettings {
    // MARK: Every daemon

    /// The instance's name; peers know it by this.
    package static func name(_ section: String) -> Setting<String> {
        Setting(
            name: "name", fallback: "\(section)-1",
            allowed: "1 to 64 letters, digits, dots, dashes and underscores",
            meaning: "This instance's name, unique in its stage; its peers list it under it.",
            read: { (input) throws(SettingRefusal) in
                guard let text = SettingText.plain(input) else { return nil }
                try PeerAddress.check(name: text)
                return text
            },
            render: { $0 })
    }

    package static let adminHost = Setting.string(
        "admin-host", default: "127.0.0.1", "Address on which /healthz, /readyz and /metrics are served.")
    package static let adminPort = Setting.int(
        "admin-port", default: 0, in: 0...65535, "Port of the same; 0 takes any free one and logs it.")
    package static let readyFd = Setting.optionalInt(
        "ready-fd", in: 0...65535, "Descriptor on which one JSON line is written when the daemon is ready.")
    package static let parentFd = Setting.optionalInt(
        "parent-fd", in: 0...65535,
        "Descriptor whose end of file means that the supervisor died; the daemon then stops.")
    package static let logFormat = Setting<LogFormat>.choice("log-format", default: .text, "How log lines look.")
    package static let logLevel = Setting<Logger.Level>.choice(
        "log-level", default: .info, "Least important level that is logged.")
    package static let drainTimeout = Setting.milliseconds(
        "drain-timeout-ms", default: 10_000, in: 0...14_000, "How long a stopping daemon may finish its work.")

    /// What every schema ends with.
    package static func process(_ section: String) -> [any SettingDeclaration] {
        [
            SharedSettings.name(section), SharedSettings.adminHost, SharedSettings.adminPort, SharedSettings.readyFd,
            SharedSettings.parentFd, SharedSettings.logFormat, SharedSettings.logLevel, SharedSettings.drainTimeout,
        ]
    }

    // MARK: Mesh

    package static let bind = Setting<String?>.endpoint(
        "bind", "Endpoint on which this daemon awaits the stages before it.")
    package static let coalescers = Setting<[PeerAddress]>.peers("coalescers", "The coalescers to connect to.")
    package static let committers = Setting<[PeerAddress]>.peers("committers", "The committers to connect to.")
    package static let fanouts = Setting<[PeerAddress]>.peers("fanouts", "The fan-outs to connect to.")

    package static let gateways = Setting<[HostAddress]>.hosts(
        "gateways",
        "All gateways, this one too, where the others reach them: a request for another's session is relayed to it.")
    package static let creditCommits = Setting.int(
        "credit-commits", default: 4096, in: 1...1_000_000,
        "Commits that one sender may have on their way through this daemon; it keeps what is beyond.")
    package static let creditBytes = Setting.int(
        "credit-bytes", default: 8 << 20, in: 1024...1 << 30, "Bytes of such commits.")

    // MARK: Database

    package static let databaseURL = Setting<String?>.secret(
        "database-url", environmentAliases: ["DATABASE_URL"], masked: ConnectionString.masked,
        "PostgreSQL connection string; several hosts are allowed.")

    // MARK: Tokens

    package static let jwtSecret = Setting<String?>.secret(
        "jwt-secret", "HS256 secret of at least 32 bytes that signs and verifies tokens.")
    package static let jwtKeysFile = Setting<String?>.optionalString(
        "jwt-keys-file", "File with the public keys that verify tokens: a JWK set or PEM blocks.")
    package static let jwtIssuer = Setting.string("jwt-issuer", default: "touchsync", "The iss that tokens must carry.")
    package static let jwtAudience = Setting.string(
        "jwt-audience", default: "touchsync", "The aud that tokens must carry.")

    /// What the `common` section of a settings file may hold.
    package static let common: [any SettingDeclaration] = [
        adminHost, logFormat, logLevel, drainTimeout, gateways, coalescers, committers, fanouts, databaseURL, rules,
        jwtSecret, jwtKeysFile, jwtIssuer, jwtAudience,
    ]
}
