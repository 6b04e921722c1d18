package import Boot
package import Canvas
package import FanoutCore
internal import Mesh

/// What an operator may set on a fan-out; the schema holds names, defaults and ranges.
package struct FanoutSettings: DaemonSettings {
    /// Where gateways, coalescers and committers connect.
    package var bind: String
    /// The database.
    package var databaseURL: String
    /// How many connections to it.
    package var databaseConnections: Int
    /// The rules of every element type, for previews; the same as the committer's.
    package var rules: RulesTable
    /// The bounds of memory and time.
    package var limits: FanoutLimits
    /// The most bytes that wait for one slow gateway.
    package var gatewayBytes: Int
    /// How long a stopping fan-out may send what waits.
    package var drain: Duration

    package static let connections = Setting.int(
        "database-connections", default: 2, in: 1...64, "Connections to PostgreSQL.")
    package static let memory = Setting.int(
        "memory-bytes", default: 1 << 30, in: 1 << 20...1 << 40, "About how much memory rooms may take.")
    package static let roomIdle = Setting.milliseconds(
        "room-idle-ms", default: 30_000, in: 0...3_600_000, "How long a room without members stays in memory.")
    package static let gatewayGrace = Setting.milliseconds(
        "gateway-grace-ms", default: 5_000, in: 0...600_000,
        "How long the people of a gateway that went away stay in their rooms.")
    package static let replay = Setting.int(
        "replay", default: 1000, in: 0...100_000,
        "Updates that a resumed join gets at most; who missed more gets the room.")
    package static let headInterval = Setting.milliseconds(
        "head-interval-ms", default: 250, in: 10...60_000, "How often PostgreSQL is asked whether an update was missed."
    )
    package static let joinDeadline = Setting.milliseconds(
        "join-deadline-ms", default: 5_000, in: 100...300_000, "How long a join may wait for the database.")
    package static let gatewayBytes = Setting.int(
        "gateway-bytes", default: 32 << 20, in: 1 << 20...1 << 32,
        "Bytes that may wait for one slow gateway; beyond it the gateway has to ask for what it missed.")

    package static let schema = SettingsSchema(
        "fanout", summary: "keeps each room's stream in one order without gaps and gives it to gateways.",
        [
            SharedSettings.bind, SharedSettings.databaseURL, connections, SharedSettings.rules, memory, roomIdle,
            gatewayGrace,
            replay, headInterval, joinDeadline, gatewayBytes,
        ])

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.bind = try values.required(SharedSettings.bind)
        self.databaseURL = try values.required(SharedSettings.databaseURL)
        self.databaseConnections = values[Self.connections]
        self.gatewayBytes = values[Self.gatewayBytes]
        self.drain = values[SharedSettings.drainTimeout]
        var limits = FanoutLimits()
        limits.memory = values[Self.memory]
        limits.roomIdle = values[Self.roomIdle].nanosecondsClamped
        limits.gatewayGrace = values[Self.gatewayGrace].nanosecondsClamped
        limits.replay = values[Self.replay]
        limits.headInterval = values[Self.headInterval].nanosecondsClamped
        limits.joinDeadline = values[Self.joinDeadline].nanosecondsClamped
        self.limits = limits
        self.rules = try values.rules()
    }
}
