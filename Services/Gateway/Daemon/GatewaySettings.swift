package import Boot
package import GatewayCore
import Mesh
package import SocketIO
package import SocketIOServer
import Stages
import Timing

/// What an operator may set on a gateway; the schema holds names, defaults and ranges.
package struct GatewaySettings: DaemonSettings {
    // What is not said here is the help of the setting below.
    package var host: String
    package var port: Int
    package var hosts: HostPolicy
    /// True when everybody who reaches the gateway may do everything, and others than this machine's programs do.
    package var isOpenToOthers: Bool
    package var limits: GatewayLimits
    package var socketIO: SocketIOServer.Configuration
    /// The certificate and its key; nil for plain text.
    package var tls: TLSSettings?
    /// What tokens are judged by; nil in open mode.
    package var tokens: TokenSettings?
    package var appServer: AppServer
    /// The share of one core up to which previews do not wait for each other, hundredths.
    package var promptCPU: Int
    package var handshakesPerSecond: Int
    package var drainSpread: Duration
    /// The stages behind.
    package var coalescers: InstanceList
    package var committers: InstanceList
    package var fanouts: InstanceList
    package var lookups: LookupPace
    /// What guards the links to them; nil for plain ones.
    package var linkKeys: LinkKeyFiles?

    static let host = Setting.string(
        "host", default: "127.0.0.1", "Address on which apps connect; localhost and 127.0.0.1 stand for ::1, too.")
    static let port = Setting.int("port", default: 8080, in: 0...65535, "Port of the same; 0 takes any free one.")
    static let origins = Setting<[String]>.list(
        "origins", default: [sameOrigin],
        "Origins of web pages that may use Socket.IO and the HTTP API beside the gateway's own; * for all, none for no page."
    )
    /// In the list of origins: pages of the gateway itself, which may use it in any case.
    private static let sameOrigin = "same-origin"
    static let hosts = Setting<[String]>.list(
        "hosts",
        "Names that requests may have as Host, with any port or the one given; by default those of loopback, or all on other addresses."
    )
    static let pingInterval = Setting.milliseconds(
        "ping-interval-ms", default: 25_000, in: 100...300_000, "How often a quiet app is pinged.")
    static let pingTimeout = Setting.milliseconds(
        "ping-timeout-ms", default: 20_000, in: 100...300_000, "How long its answer may take.")
    static let connectTimeout = Setting.milliseconds(
        "connect-timeout-ms", default: 45_000, in: 100...300_000,
        "How long a connection may stay that has sent a CONNECT, but none that was accepted.")
    static let maxMessage = Setting.int(
        "max-message-bytes", default: 262_144, in: 1024...LinkOptions.maximumIncomingBytes / 2,
        "Largest message of an app.")
    static let maxBuffered = Setting.int(
        "max-buffered-bytes", default: 1_048_576, in: 65_536...67_108_864,
        "Bytes that may wait for one slow app; beyond it the app is disconnected.")
    static let badMessages = Setting.int(
        "bad-messages-per-minute", default: 10, in: 1...10_000, "Unreadable messages before an app is disconnected.")
    static let roomsPerConnection = Setting.int(
        "rooms-per-connection", default: 64, in: 1...10_000, "Rooms that one connection may be in.")
    static let connectionJoins = Setting.int(
        "connection-joins-per-second", default: 16, in: 1...100_000,
        "Joins of one connection, and four times its rooms at once after a pause.")
    static let connectionsOfUser = Setting.int(
        "max-connections-per-user", default: 64, in: 1...1_000_000, "Connections of one user to this gateway.")
    static let previewRate = Setting.int(
        "previews-per-second", default: 120, in: 1...10_000, "Previews of one connection; beyond it they are folded.")
    static let commitRate = Setting.int(
        "commits-per-second", default: 30, in: 1...100_000,
        "Commits of one connection; an undo counts for four, twenty named elements for one more, others once changed.")
    static let commitBurst = Setting.int(
        "commit-burst", default: 120, in: 1...100_000, "Commits that may come at once after a pause.")
    static let userCommitRate = Setting.int(
        "user-commits-per-second", default: 120, in: 1...1_000_000,
        "Commits of one user, over all its connections and HTTP; never less than those of one connection.")
    static let userCommitBurst = Setting.int(
        "user-commit-burst", default: 480, in: 1...1_000_000,
        "Commits of one user that may come together after a pause; never less than those of one connection.")
    static let userRequestRate = Setting.int(
        "user-requests-per-second", default: 100, in: 1...1_000_000, "Requests of one user to the HTTP API.")
    static let userRequestBurst = Setting.int(
        "user-request-burst", default: 400, in: 1...1_000_000,
        "Requests of one user to the HTTP API that may come together after a pause.")
    static let unacknowledged = Setting.int(
        "unacknowledged-commits", default: 32, in: 1...10_000, "Commits of one session without a result.")
    static let waitingCommits = Setting.int(
        "waiting-commits", default: 256, in: 1...100_000,
        "Commits without a number of one connection that may wait for their turn; one more is refused as busy.")
    static let deadline = Setting.milliseconds(
        "deadline-ms", default: 10_000, in: 100...300_000, "How long a commit or join may wait for its result.")
    static let tick = Setting.milliseconds(
        "throttle-ms", default: 16, in: 1...1000,
        "The pace of previews that apps are told when all is well, and how long those of a room wait for each other at most."
    )
    static let flushLate = Setting.milliseconds(
        "flush-late-ms", default: 8, in: 0...10_000,
        "When most previews leave later than this, the rooms that cost most slow down.")
    static let flushCalm = Setting.milliseconds(
        "flush-calm-ms", default: 1000, in: 100...300_000, "How long all must be well before slow rooms speed up again."
    )
    static let promptCPU = Setting.int(
        "prompt-cpu-percent", default: 34, in: 0...100,
        "Share of one core up to which previews leave as they arrive; above it those of several publishers wait for each other."
    )

    static let inFlightCommits = Setting.int(
        "in-flight-commits", default: 32_768, in: 1...10_000_000,
        "Commits of all apps that may wait for their results; one more is refused as busy.")
    static let inFlightBytes = Setting.int(
        "in-flight-bytes", default: 64 << 20, in: 1 << 16...1 << 36, "Bytes of such commits.")
    static let joinsWaiting = Setting.int(
        "joins-waiting", default: 20_000, in: 1...1_000_000,
        "Joins of all apps that may wait for their answers; one more is refused as busy.")
    static let answerBytes = Setting.int(
        "answer-bytes", default: 32 << 20, in: 1 << 20...1 << 36,
        "Bytes of answers to joins and reads that apps have not read yet; beyond it those are closed that hardly read.")
    static let userAnswerBytes = Setting.int(
        "user-answer-bytes", default: 8 << 20, in: 1 << 20...1 << 36,
        "Bytes of such answers of one user, which is answered at most four times as many in a second.")
    static let userReads = Setting.int(
        "user-reads", default: 4, in: 1...1_000_000,
        "Joins of one user that wait for their answers at once, and as many reads over HTTP; others wait for these.")
    static let userReadsWaiting = Setting.int(
        "user-reads-waiting", default: 256, in: 1...1_000_000,
        "How many joins of one user may wait for these, and reads; one more is refused as busy.")
    static let joinRate = Setting.int(
        "joins-per-second", default: 2000, in: 1...1_000_000,
        "Joins that go to fan-outs in a second, and as many at once after a pause; the rest wait for their turn.")
    static let readsWaiting = Setting.int(
        "reads-waiting", default: 1000, in: 1...1_000_000,
        "Reads of rooms over HTTP that may wait for their answers; one more is refused as busy.")
    static let handshakeRate = Setting.int(
        "handshakes-per-second", default: 2000, in: 1...1_000_000,
        "New connections in a second, and as many at once after a pause; more are told to come a moment later (503).")
    static let refusedTokens = Setting.int(
        "refused-tokens", default: 10, in: 1...1000,
        "Refused CONNECT packets and auth:refresh events of one connection, after which it is closed.")
    static let tokenChecks = Setting.int(
        "token-checks-per-second", default: 2, in: 1...10_000,
        "Tokens of one connection that are checked, and five times as many at once after a pause.")
    static let addressTokenChecks = Setting.int(
        "address-token-checks-per-second", default: 50, in: 1...100_000,
        "The same for all connections and requests of one IP address; loopback is not counted.")
    static let traceShare = Setting.share(
        "trace-share", default: 0.001,
        "The share of commits whose way is logged although their apps send no traceparent with the flag sampled.")
    static let traceRate = Setting.int(
        "traces-per-second", default: 10, in: 0...100_000,
        "Commits whose way is logged in a second, and as many at once after a pause; 0 for none.")
    static let drainSpread = Setting.milliseconds(
        "drain-spread-ms", default: 4000, in: 0...8000,
        "Over how long a stopping gateway spreads its goodbyes to many apps.")

    package static let schema = SettingsSchema(
        "gateway", summary: "speaks Socket.IO with apps, keeps commits until they are stored, and delivers rooms.",
        [
            host, port, SharedSettings.open, origins, hosts, pingInterval, pingTimeout, connectTimeout,
            maxMessage, maxBuffered, badMessages, roomsPerConnection, connectionJoins, connectionsOfUser,
            previewRate, commitRate,
            commitBurst, userCommitRate, userCommitBurst, userRequestRate, userRequestBurst, unacknowledged,
            waitingCommits, inFlightCommits, inFlightBytes, handshakeRate, joinRate,
            joinsWaiting, answerBytes, userAnswerBytes, userReads, userReadsWaiting, SharedSettings.roomElements,
            SharedSettings.roomBytes,
            SharedSettings.elementAnnotations, SharedSettings.pictureBytes, SharedSettings.replay,
            readsWaiting, traceShare, traceRate, drainSpread, deadline, tick, flushLate, flushCalm,
            promptCPU,
            SharedSettings.coalescers, SharedSettings.committers, SharedSettings.fanouts,
            SharedSettings.lookupPause, SharedSettings.lookupPatience, SharedSettings.linkKeyFile,
            SharedSettings.peersFile, SharedSettings.jwtSecret,
            SharedSettings.jwtKeysFile,
            SharedSettings.jwtIssuer, SharedSettings.jwtAudience, TokenSettings.leeway, SharedSettings.tokenLifetime,
            TLSSettings.certificate, TLSSettings.key, TokenSettings.revocations, refusedTokens, tokenChecks,
            addressTokenChecks, AppServer.inviteURL, AppServer.uploadURL, AppServer.pictureOrigins,
        ] + networkSettings)

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.host = values[Self.host]
        self.port = values[Self.port]
        let names = try Self.items(Self.hosts, values) { text throws(UnusableName) in try ServerName(parsing: text) }
        self.hosts = HostPolicy(names: names, listeningOn: values[Self.host])
        self.isOpenToOthers = false
        self.promptCPU = values[Self.promptCPU]
        self.handshakesPerSecond = values[Self.handshakeRate]
        self.drainSpread = values[Self.drainSpread]
        self.coalescers = try values.instances(SharedSettings.coalescers)
        self.committers = try values.instances(SharedSettings.committers)
        self.fanouts = try values.instances(SharedSettings.fanouts)
        self.lookups = LookupPace(values)
        self.linkKeys = try values.linkKeys(bound: [])
        self.limits = Self.limits(values)
        self.tokens = try TokenSettings(values)
        self.appServer = try AppServer(values, hasTokens: self.tokens != nil)
        self.tls = try TLSSettings(values)
        self.socketIO = try Self.socketIO(values, isSecure: self.tls != nil)
        self.socketIO.tls = self.tls?.identity
        self.socketIO.name = values[SharedSettings.name("gateway")]
        try Self.configureNetwork(&self.socketIO, values)
        self.isOpenToOthers = self.tokens == nil && !Loopback.contains(self.host)
        guard !self.isOpenToOthers || values[SharedSettings.open] else {
            throw values.problem(
                Self.host,
                "\"\(self.host)\" can be reached from other machines, and without token keys everybody may do everything "
                    + "there: set \(SharedSettings.jwtSecret.name) or \(SharedSettings.jwtKeysFile.name), or give --open"
            )
        }
    }

    /// The items of a list, each of which must be able to match something.
    private static func items<Item>(
        _ setting: Setting<[String]>, _ values: SettingValues, but words: Set<String> = [],
        _ parse: (String) throws(UnusableName) -> Item
    ) throws(SettingProblem) -> [Item] {
        var items: [Item] = []
        for text in values[setting] where !words.contains(text) {
            do throws(UnusableName) { items.append(try parse(text)) } catch {
                throw values.problem(setting, "\"\(text)\" \(error.reason)")
            }
        }
        return items
    }

    private static func limits(_ values: SettingValues) -> GatewayLimits {
        var limits = GatewayLimits()
        limits.messageBytes = values[Self.maxMessage]
        limits.rooms = values[Self.roomsPerConnection]
        limits.connectionJoinsPerSecond = values[Self.connectionJoins]
        limits.connectionsOfUser = values[Self.connectionsOfUser]
        limits.unacknowledged = values[Self.unacknowledged]
        limits.waitingCommits = values[Self.waitingCommits]
        limits.previewsPerSecond = values[Self.previewRate]
        limits.commitsPerSecond = values[Self.commitRate]
        limits.commitBurst = values[Self.commitBurst]
        limits.userCommitsPerSecond = values[Self.userCommitRate]
        limits.userCommitBurst = values[Self.userCommitBurst]
        limits.userRequestsPerSecond = values[Self.userRequestRate]
        limits.userRequestBurst = values[Self.userRequestBurst]
        limits.deadline = Nanoseconds(values[Self.deadline])
        limits.throttle = Nanoseconds(values[Self.tick])
        limits.late = Nanoseconds(values[Self.flushLate])
        limits.calm = Nanoseconds(values[Self.flushCalm])
        limits.inFlightCommits = values[Self.inFlightCommits]
        limits.inFlightBytes = values[Self.inFlightBytes]
        limits.joinsWaiting = values[Self.joinsWaiting]
        limits.roomElements = values[SharedSettings.roomElements]
        limits.roomBytes = values[SharedSettings.roomBytes]
        limits.elementAnnotations = values[SharedSettings.elementAnnotations]
        limits.pictureBytes = values[SharedSettings.pictureBytes]
        limits.replay = values[SharedSettings.replay]
        limits.answerBytes = values[Self.answerBytes]
        limits.userAnswerBytes = values[Self.userAnswerBytes]
        limits.userReads = values[Self.userReads]
        limits.userReadsWaiting = values[Self.userReadsWaiting]
        limits.joinsPerSecond = values[Self.joinRate]
        limits.readsWaiting = values[Self.readsWaiting]
        limits.traceShare = values[Self.traceShare]
        limits.tracesPerSecond = values[Self.traceRate]
        limits.refusedTokens = values[Self.refusedTokens]
        limits.tokenChecksPerSecond = values[Self.tokenChecks]
        limits.addressTokenChecksPerSecond = values[Self.addressTokenChecks]
        return limits
    }

    private static func socketIO(
        _ values: SettingValues, isSecure: Bool
    ) throws(SettingProblem) -> SocketIOServer.Configuration {
        var configuration = SocketIOServer.Configuration()
        configuration.pingInterval = values[Self.pingInterval]
        configuration.pingTimeout = values[Self.pingTimeout]
        configuration.connectTimeout = values[Self.connectTimeout]
        configuration.maxPayload = values[Self.maxMessage]
        configuration.maxBufferedBytes = values[Self.maxBuffered]
        // While a connection is writable there is space for more previews, which may take up half of the bound.
        configuration.writeHighWater = min(configuration.writeHighWater, configuration.maxBufferedBytes / 8)
        configuration.writeLowWater = min(configuration.writeLowWater, configuration.writeHighWater / 4)
        configuration.badPacketBudget = values[Self.badMessages]
        configuration.origins = try Self.origins(values, isSecure: isSecure)
        return configuration
    }

    private static func origins(_ values: SettingValues, isSecure: Bool) throws(SettingProblem) -> OriginPolicy {
        let list = values[Self.origins]
        if list == ["none"] { return .only([]) }
        let others = try Self.items(Self.origins, values, but: [Self.sameOrigin, "*", "none"]) {
            text throws(UnusableName) in try WebOrigin(parsing: text)
        }
        guard !list.contains("none") else { throw values.problem(Self.origins, "\"none\" stands alone") }
        return list.contains("*") ? .any : .own(and: others, isSecure: isSecure)
    }
}
