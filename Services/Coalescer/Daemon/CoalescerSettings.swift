package import Boot
package import CoalescerCore
internal import Timing

/// A coalescer's settings; the schema has names, defaults and ranges.
package struct CoalescerSettings: DaemonSettings {
    /// The endpoint to which gateways connect.
    package var bind: String
    /// The pace, and the maximum number of keys.
    package var limits: CoalescerLimits
    /// The next stage.
    package var fanouts: InstanceList
    /// How names are looked up.
    package var lookups: LookupPace
    /// What guards its links; nil for plain ones.
    package var linkKeys: LinkKeyFiles?

    package static let tick = Setting.milliseconds(
        "tick-ms", default: 16, in: 1...1000,
        "The least interval between previews of one element and connection.")
    package static let maxEntries = Setting.int(
        "max-entries", default: 65_536, in: 1...10_000_000,
        "Moving elements (by connection) known at the same time; beyond it previews leave early.")
    package static let memory = Setting.milliseconds(
        "entry-idle-ms", default: 30_000, in: 1000...600_000,
        "How long an element of an idle connection is remembered.")

    package static let schema = SettingsSchema(
        "coalescer", summary: "collapses bursts of previews and paces rooms.",
        [
            SharedSettings.bind, tick, maxEntries, memory, SharedSettings.fanouts,
            SharedSettings.lookupPause, SharedSettings.lookupPatience, SharedSettings.linkKeyFile,
            SharedSettings.peersFile,
        ])

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.bind = try values.required(SharedSettings.bind)
        self.limits = CoalescerLimits(
            tick: Nanoseconds(values[Self.tick]), maxEntries: values[Self.maxEntries],
            memory: Nanoseconds(values[Self.memory]))
        self.fanouts = try values.instances(SharedSettings.fanouts)
        self.lookups = LookupPace(values)
        self.linkKeys = try values.linkKeys(bound: [SharedSettings.bind])
    }
}
