package import Boot
package import FanoutCore
internal import Timing

/// What an operator may set on a fan-out; the schema holds names, defaults and ranges.
package struct FanoutSettings: DaemonSettings {
    package var bind: String
    /// What guards its links; nil for plain ones.
    package var linkKeys: LinkKeyFiles?
    package var databaseURL: String
    package var databaseConnections: Int
    /// The rules of every element type; the same as the committers'.
    package var rules: RulesFile
    package var limits: FanoutLimits
    package var gatewayBytes: Int
    /// How long a stopping fan-out may send what waits.
    package var drain: Duration

    package static let connections = Setting.int(
        "database-connections", default: 2, in: 1...32, "Connections to PostgreSQL; reads share them.")
    package static let memory = Setting.int(
        "memory-bytes", default: 1 << 30, in: 1 << 20...1 << 40,
        "About how much all rooms may take; beyond it no further room is loaded.")
    package static let maxRooms = Setting.int(
        "max-rooms", default: 200_000, in: 1...10_000_000, "Rooms that may be in memory at once.")
    package static let maxWaiting = Setting.int(
        "max-waiting", default: 20_000, in: 1...1_000_000, "Joins and reads of rooms that may wait at once.")
    package static let ringBytes = Setting.int(
        "recent-bytes", default: 1 << 20, in: 0...1 << 30, "Bytes of recent updates kept for each room.")
    package static let roomIdle = Setting.milliseconds(
        "room-idle-ms", default: 30_000, in: 0...3_600_000, "How long a room without members stays in memory.")
    package static let gatewayGrace = Setting.milliseconds(
        "gateway-grace-ms", default: 5000, in: 0...600_000,
        "How long the people of a gateway that went away stay in their rooms.")
    package static let joinDeadline = Setting.milliseconds(
        "join-deadline-ms", default: 5000, in: 100...600_000, "How long a join may wait for the database.")
    package static let gatewayBytes = Setting.int(
        "gateway-bytes", default: 32 << 20, in: 1 << 16...1 << 32,
        "Bytes that may wait for one slow gateway; beyond it the gateway has to ask for what it missed.")

    package static let schema = SettingsSchema(
        "fanout", summary: "keeps each room's stream in one order without gaps and gives it to gateways.",
        [
            SharedSettings.bind, SharedSettings.linkKeyFile, SharedSettings.peersFile, SharedSettings.databaseURL,
            connections, SharedSettings.rules, memory, maxRooms,
            maxWaiting, SharedSettings.replay, ringBytes, roomIdle, gatewayGrace, joinDeadline, gatewayBytes,
        ])

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.bind = try values.required(SharedSettings.bind)
        self.databaseURL = try values.required(SharedSettings.databaseURL)
        self.databaseConnections = values[Self.connections]
        self.gatewayBytes = values[Self.gatewayBytes]
        self.drain = values[SharedSettings.drainTimeout]
        var limits = FanoutLimits()
        limits.memory = values[Self.memory]
        limits.rooms = values[Self.maxRooms]
        limits.waiting = values[Self.maxWaiting]
        limits.replay = values[SharedSettings.replay]
        limits.ringBytes = values[Self.ringBytes]
        limits.roomIdle = Nanoseconds(values[Self.roomIdle])
        limits.gatewayGrace = Nanoseconds(values[Self.gatewayGrace])
        limits.joinDeadline = Nanoseconds(values[Self.joinDeadline])
        self.limits = limits
        self.rules = try values.rules()
        self.linkKeys = try values.linkKeys(bound: [SharedSettings.bind])
    }
}
