package import Logging

package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: one line, `key=value` pairs after the message.
    case text
    /// For machines: one JSON object a line.
    case json
}

/// Settings of more than one daemon; each is declared here once.
package enum SharedSettings {
    // MARK: Every daemon

    /// The instance's name, by which its peers know it.
    package static func name(_ section: String) -> Setting<String> {
        Setting(
            name: "name", fallback: "\(section)-1",
            allowed: "1 to 64 letters, digits, dots, dashes and underscores",
            meaning: "This instance's name, unique in its stage and known to its peers.",
            read: { (input) throws(SettingRefusal) in
                guard let text = SettingText.plain(input) else { return nil }
                try PeerAddress.check(name: text)
                return text
            },
            render: { $0 })
    }

    package static let adminHost = Setting.string(
        "admin-host", default: "127.0.0.1",
        "Address of the admin server: /healthz, /readyz and, for whoever presents operator-token, /metrics and more.")
    package static let adminPort = Setting.int(
        "admin-port", default: 0, in: 0...65535, "Port of the admin server; 0 chooses any free one and logs it.")
    package static let operatorToken = Setting<String?>.token(
        "operator-token", atLeast: 32,
        "Token of operators, the same in all daemons: the admin server asks for it; without it there is only health.")
    package static let readyFd = Setting.optionalInt(
        "ready-fd", in: 0...65535, "Descriptor for one line of JSON when the daemon is ready.")
    package static let parentFd = Setting.optionalInt(
        "parent-fd", in: 0...65535,
        "Descriptor whose end of file means that the supervisor died; the daemon then stops.")
    package static let logFormat = Setting<LogFormat>.choice("log-format", default: .text, "Format of log lines.")
    package static let logLevel = Setting<Logger.Level>.choice(
        "log-level", default: .info, "Lowest level that is logged.")
    package static let drainTimeout = Setting.milliseconds(
        "drain-timeout-ms", default: 10_000, in: 0...14_000, "Time limit for finishing pending work at shutdown.")

    package static let user = Setting.optionalString(
        "user", "User that a daemon started as root becomes, for good, before it opens sockets and ports.")
    package static let allowRoot = Setting.bool(
        "allow-root", default: false, "Run as root when started as root; without it and user a daemon refuses to.")

    /// The settings at the end of every schema.
    package static func process(_ section: String) -> [any SettingDeclaration] {
        [
            SharedSettings.name(section), SharedSettings.adminHost, SharedSettings.adminPort,
            SharedSettings.operatorToken, SharedSettings.readyFd, SharedSettings.parentFd, SharedSettings.logFormat,
            SharedSettings.logLevel, SharedSettings.drainTimeout,
            SharedSettings.user, SharedSettings.allowRoot,
        ]
    }

    // MARK: Mesh

    package static let bind = Setting<String?>.endpoint(
        "bind", "Endpoint on which this daemon accepts links of the previous stages.")
    package static let coalescers = Setting<InstanceSource>.instances(
        "coalescers", "The coalescers to connect to.")
    package static let committers = Setting<InstanceSource>.instances(
        "committers", "The committers to connect to.")
    package static let fanouts = Setting<InstanceSource>.instances(
        "fanouts", "The fan-outs to connect to.")
    package static let lookupPause = Setting.milliseconds(
        "dns-pause-ms", default: 1000, in: 100...60_000,
        "Pause between two lookups of the names in dns://HOST:PORT and srv://NAME.")
    package static let lookupPatience = Setting.milliseconds(
        "dns-patience-ms", default: 2000, in: 0...600_000,
        "How long an instance stays in the set that DNS does not list any more.")
    package static let creditCommits = Setting.int(
        "credit-commits", default: 4096, in: 1...1_000_000,
        "Unfinished commits that one sender may have in this daemon; further ones stay with the sender.")
    package static let creditBytes = Setting.int(
        "credit-bytes", default: 8 << 20, in: 1024...1 << 30, "Bytes of those commits.")

    // MARK: Rooms

    package static let roomElements = Setting.int(
        "room-elements", default: 10_000, in: 1...10_000_000,
        "Elements in a room; committers refuse more as too_large, and gateways tell apps.")
    package static let roomBytes = Setting.int(
        "room-bytes", default: 16 << 20, in: 1 << 16...1 << 30,
        "Bytes of a room's elements as stored, 512 for each element's geometry included; likewise.")
    package static let elementAnnotations = Setting.int(
        "element-annotations", default: 1000, in: 1...1_000_000, "Annotations of one element; likewise.")
    package static let pictureBytes = Setting.int(
        "picture-bytes", default: 128 << 10, in: 0...192 << 10,
        "Bytes of an element's picture that is a data URL; 0: it counts among its own fields; likewise.")

    package static let replay = Setting.int(
        "replay", default: 1000, in: 0...10_000,
        "Updates that fan-outs replay to an app that resumes, at most; who missed more gets the room; gateways tell apps."
    )

    // MARK: Database

    package static let databaseURL = Setting<String?>.secret(
        "database-url", environmentAliases: ["DATABASE_URL"], masked: ConnectionString.masked,
        "PostgreSQL connection string, with one or several hosts.")

    // MARK: Tokens

    package static let jwtSecret = Setting<String?>.secret(
        "jwt-secret", "HS256 secret of at least 32 bytes that signs and verifies tokens.")
    package static let jwtKeysFile = Setting<String?>.optionalString(
        "jwt-keys-file", "File with the public keys that verify tokens: a JWK set or PEM blocks.")
    package static let jwtIssuer = Setting.string("jwt-issuer", default: "touchsync", "Required iss of tokens.")
    package static let jwtAudience = Setting.string("jwt-audience", default: "touchsync", "Required aud of tokens.")
    package static let tokenLifetime = Setting.int(
        "token-lifetime-s", default: 86_400, in: 1...31_536_000,
        "Seconds for which a token is good at most: since its iat, or without one since it was presented.")
    package static let open = Setting.bool(
        "open", default: false,
        "Serve without token keys on an address that others can reach: everybody may do everything.")

    /// The settings that the `common` section of a settings file may contain.
    package static let common: [any SettingDeclaration] = [
        adminHost, operatorToken, logFormat, logLevel, drainTimeout, user, allowRoot, coalescers, committers, fanouts,
        lookupPause, lookupPatience, linkKeyFile, peersFile,
        databaseURL, rules,
        jwtSecret, jwtKeysFile, jwtIssuer, jwtAudience, tokenLifetime, roomElements, roomBytes, elementAnnotations,
        pictureBytes, replay,
    ]
}
