package import Auth
package import Boot
package import GatewayCore
import SocketIO
package import SocketIOServer
import Timing

/// What an operator may set on a gateway; the schema holds names, defaults and ranges.
package struct GatewaySettings: DaemonSettings {
    /// Where apps connect.
    package var host: String
    /// The port of the same; 0 takes any free one.
    package var port: Int
    /// The ZeroMQ face for other back ends; nil: none.
    package var face: String?
    /// What one app may ask.
    package var limits: Limits
    /// How the Socket.IO server behaves.
    package var socketIO: SocketIOServer.Configuration
    /// What tokens are signed with; nil in open mode.
    package var tokenKeys: KeySet?
    /// What tokens must have as `iss` and `aud`.
    package var tokenIssuer: String
    package var tokenAudience: String
    /// How much later than its `exp` a token ends, and how much earlier it begins.
    package var tokenLeeway: Duration
    /// How long previews for one coalescer are collected while they come fast.
    package var linkPause: Duration
    /// The least time from one turn of the event loop to the next while very many commits come; zero: none.
    package var turnPause: Duration
    /// New connections in a second.
    package var handshakesPerSecond: Int
    /// Over how long the goodbyes of a drain are spread.
    package var drainSpread: Duration
    /// The stages behind.
    package var coalescers: [PeerAddress]
    package var committers: [PeerAddress]
    package var fanouts: [PeerAddress]

    static let host = Setting.string("host", default: "127.0.0.1", "Address on which apps connect.")
    static let port = Setting.int("port", default: 8080, in: 0...65535, "Port of the same; 0 takes any free one.")
    static let face = Setting<String?>.endpoint(
        "face", "Endpoint of a ZeroMQ ROUTER on which other back ends speak the same events; none without it.")
    static let origins = Setting<[String]>.list(
        "origins", default: ["*"], "Origins of web pages that may use Socket.IO and the HTTP API, exactly; * for all.")
    static let pingInterval = Setting.milliseconds(
        "ping-interval-ms", default: 25_000, in: 100...300_000, "How often a quiet app is pinged.")
    static let pingTimeout = Setting.milliseconds(
        "ping-timeout-ms", default: 20_000, in: 100...300_000, "How long its answer may take.")
    static let connectTimeout = Setting.milliseconds(
        "connect-timeout-ms", default: 45_000, in: 100...300_000, "How long an app may stay without a CONNECT.")
    static let maxMessage = Setting.int(
        "max-message-bytes", default: 262_144, in: 1024...16_777_216, "Largest message of an app.")
    static let maxConnections = Setting.int(
        "max-connections", default: 10_000, in: 1...1_000_000, "Connections of this gateway.")
    static let maxConnectionsPerAddress = Setting.int(
        "max-connections-per-address", default: 64, in: 1...1_000_000,
        "Connections from one IP address; loopback is not counted.")
    static let maxBuffered = Setting.int(
        "max-buffered-bytes", default: 1_048_576, in: 65_536...67_108_864,
        "Bytes that may wait for one slow app; beyond it the app is disconnected.")
    static let badMessages = Setting.int(
        "bad-messages-per-minute", default: 10, in: 1...10_000, "Unreadable messages before an app is disconnected.")
    static let roomsPerConnection = Setting.int(
        "rooms-per-connection", default: 64, in: 1...10_000, "Rooms that one connection may be in.")
    static let previewRate = Setting.int(
        "previews-per-second", default: 120, in: 1...10_000, "Previews of one connection; beyond it they are folded.")
    static let commitRate = Setting.int(
        "commits-per-second", default: 30, in: 1...100_000, "Commits of one connection.")
    static let commitBurst = Setting.int(
        "commit-burst", default: 120, in: 1...100_000, "Commits that may come at once after a pause.")
    static let unacknowledged = Setting.int(
        "unacknowledged-commits", default: 32, in: 1...10_000, "Commits of one session without a result.")
    static let waitingCommits = Setting.int(
        "waiting-commits", default: 256, in: 1...100_000,
        "Commits without a number of one connection that may wait for their turn; one more is refused as busy.")
    static let deadline = Setting.milliseconds(
        "deadline-ms", default: 10_000, in: 100...300_000, "How long a commit or join may wait for its result.")
    static let tick = Setting.milliseconds(
        "throttle-ms", default: 16, in: 1...1000, "The pace of previews that apps are told when all is well.")
    static let paceLate = Setting.milliseconds(
        "pace-late-ms", default: 8, in: 0...10_000,
        "Previews that leave later than this on average slow down the rooms that cost most; slow commits do so too.")
    static let paceCalm = Setting.milliseconds(
        "pace-calm-ms", default: 1000, in: 100...300_000, "How long all must be well before slow rooms speed up again.")
    static let linkPause = Setting.milliseconds(
        "link-pause-ms", default: 5, in: 0...100, "How long previews for one coalescer are collected while many come.")
    static let turnPause = Setting.int(
        "turn-pause-us", default: 1000, in: 0...10_000,
        "The least time between turns of the event loop that accept commits, while very many come; 0 for none.")

    static let custodyCommits = Setting.int(
        "custody-commits", default: 32_768, in: 1...10_000_000,
        "Commits of all apps that may wait for their results; one more is refused as busy.")
    static let custodyBytes = Setting.int(
        "custody-bytes", default: 64 << 20, in: 1 << 16...1 << 36, "Bytes of such commits.")
    static let joinsWaiting = Setting.int(
        "joins-waiting", default: 20_000, in: 1...1_000_000,
        "Joins of all apps that may wait for their answers; one more is refused as busy.")
    static let snapshotBytes = Setting.int(
        "snapshot-bytes", default: 256 << 20, in: 1 << 20...1 << 36,
        "Bytes of large rooms (above 256 KiB) that joining apps have not read yet; a join beyond it is refused as busy."
    )
    static let joinRate = Setting.int(
        "joins-per-second", default: 2000, in: 1...1_000_000,
        "Joins that go to fan-outs in a second, and as many at once after a pause; the rest wait for their turn.")
    static let readsWaiting = Setting.int(
        "reads-waiting", default: 1000, in: 1...1_000_000,
        "Reads of rooms over HTTP that may wait for their answers; one more is refused as busy.")
    static let handshakeRate = Setting.int(
        "handshakes-per-second", default: 2000, in: 1...1_000_000,
        "New connections in a second, and as many at once after a pause; more are told to come a moment later (503).")
    static let tokenLeeway = Setting.milliseconds(
        "jwt-leeway-ms", default: 60_000, in: 0...300_000,
        "Tolerated difference of clocks: how long after its exp a token is still good, also for live connections.")
    static let drainSpread = Setting.milliseconds(
        "drain-spread-ms", default: 4000, in: 0...8000,
        "Over how long a stopping gateway spreads its goodbyes to many apps.")

    package static let schema = SettingsSchema(
        "gateway", summary: "speaks Socket.IO with apps, keeps their commits in custody and delivers their rooms.",
        [
            host, port, face, origins, pingInterval, pingTimeout, connectTimeout, maxMessage, maxConnections,
            maxConnectionsPerAddress, maxBuffered, badMessages, roomsPerConnection, previewRate, commitRate,
            commitBurst, unacknowledged, waitingCommits, custodyCommits, custodyBytes, handshakeRate, joinRate,
            joinsWaiting, snapshotBytes, SharedSettings.roomElements, SharedSettings.roomBytes,
            SharedSettings.elementAnnotations,
            readsWaiting, drainSpread, deadline, tick, paceLate, paceCalm, linkPause, turnPause,
            SharedSettings.gateways,
            SharedSettings.coalescers, SharedSettings.committers, SharedSettings.fanouts, SharedSettings.jwtSecret,
            SharedSettings.jwtKeysFile,
            SharedSettings.jwtIssuer, SharedSettings.jwtAudience, tokenLeeway,
        ])

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.host = values[Self.host]
        self.port = values[Self.port]
        self.face = values[Self.face]
        self.linkPause = values[Self.linkPause]
        self.turnPause = .microseconds(values[Self.turnPause])
        self.handshakesPerSecond = values[Self.handshakeRate]
        self.drainSpread = values[Self.drainSpread]
        self.coalescers = values[SharedSettings.coalescers]
        self.committers = values[SharedSettings.committers]
        self.fanouts = values[SharedSettings.fanouts]
        for setting in [SharedSettings.coalescers, SharedSettings.committers, SharedSettings.fanouts]
        where values[setting].isEmpty {
            throw values.problem(setting, "must name at least one")
        }
        self.tokenIssuer = values[SharedSettings.jwtIssuer]
        self.tokenAudience = values[SharedSettings.jwtAudience]
        self.tokenLeeway = values[Self.tokenLeeway]
        self.limits = Self.limits(values)
        self.socketIO = Self.socketIO(values)
        try self.name(values[SharedSettings.name("gateway")], among: values[SharedSettings.gateways], values)
        self.tokenKeys = try Self.tokenKeys(values)
    }

    /// Session ids begin with the gateway's name when there are several.
    private mutating func name(
        _ name: String, among gateways: [HostAddress], _ values: SettingValues
    ) throws(SettingProblem) {
        guard !gateways.isEmpty else { return }
        guard gateways.contains(where: { $0.name == name }) else {
            throw values.problem(SharedSettings.gateways, "must name this gateway too, \"\(name)\"")
        }
        self.socketIO.sidPrefix = "\(name)."
        for gateway in gateways {
            self.socketIO.neighbours["\(gateway.name)."] = .init(host: gateway.host, port: gateway.port)
        }
    }

    private static func limits(_ values: SettingValues) -> Limits {
        var limits = Limits()
        limits.messageBytes = values[Self.maxMessage]
        limits.rooms = values[Self.roomsPerConnection]
        limits.unacknowledged = values[Self.unacknowledged]
        limits.waitingCommits = values[Self.waitingCommits]
        limits.previewsPerSecond = values[Self.previewRate]
        limits.commitsPerSecond = values[Self.commitRate]
        limits.commitBurst = values[Self.commitBurst]
        limits.deadline = Nanoseconds(values[Self.deadline])
        limits.throttle = Nanoseconds(values[Self.tick])
        limits.late = Nanoseconds(values[Self.paceLate])
        limits.calm = Nanoseconds(values[Self.paceCalm])
        limits.custodyCommits = values[Self.custodyCommits]
        limits.custodyBytes = values[Self.custodyBytes]
        limits.joinsWaiting = values[Self.joinsWaiting]
        limits.roomElements = values[SharedSettings.roomElements]
        limits.roomBytes = values[SharedSettings.roomBytes]
        limits.elementAnnotations = values[SharedSettings.elementAnnotations]
        limits.snapshotBytes = values[Self.snapshotBytes]
        limits.joinsPerSecond = values[Self.joinRate]
        limits.readsWaiting = values[Self.readsWaiting]
        return limits
    }

    private static func socketIO(_ values: SettingValues) -> SocketIOServer.Configuration {
        var configuration = SocketIOServer.Configuration()
        configuration.pingInterval = values[Self.pingInterval]
        configuration.pingTimeout = values[Self.pingTimeout]
        configuration.connectTimeout = values[Self.connectTimeout]
        configuration.maxPayload = values[Self.maxMessage]
        configuration.maxConnections = values[Self.maxConnections]
        configuration.maxConnectionsPerAddress = values[Self.maxConnectionsPerAddress]
        configuration.maxBufferedBytes = values[Self.maxBuffered]
        configuration.badPacketBudget = values[Self.badMessages]
        let origins = values[Self.origins]
        configuration.origins = origins.contains("*") ? .any : .only(origins)
        return configuration
    }

    private static func tokenKeys(_ values: SettingValues) throws(SettingProblem) -> KeySet? {
        var keys: KeySet?
        if let secret = values[SharedSettings.jwtSecret] {
            do {
                keys = try KeySet(secret: secret.utf8)
            } catch {
                throw values.problem(SharedSettings.jwtSecret, error.description)
            }
        }
        if let path = values[SharedSettings.jwtKeysFile] {
            do {
                let file = try KeySet(parsing: FileBytes.read(path).get())
                keys = try keys?.union(file) ?? file
            } catch {
                throw values.problem(SharedSettings.jwtKeysFile, "\(error)")
            }
        }
        return keys
    }

    /// What verifies tokens; nil in open mode.
    func makeTokenVerifier() async throws -> TokenVerifier? {
        guard let keys = self.tokenKeys else { return nil }
        return try await TokenVerifier(
            keys: keys, issuer: self.tokenIssuer, audience: self.tokenAudience,
            leeway: self.tokenLeeway.components.seconds)
    }
}
