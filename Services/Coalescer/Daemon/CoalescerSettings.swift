package import Boot
package import CoalescerCore
internal import Timing
package import Wire

/// A coalescer's settings; the schema has names, defaults and ranges.
package struct CoalescerSettings: DaemonSettings {
    /// The endpoint to which gateways connect: the commits' lane, from which the previews' lane is derived.
    package var bind: String
    /// The pace, and the maximum number of keys.
    package var limits: CoalescerLimits
    /// The share of one core up to which previews do not wait for each other, hundredths.
    package var promptCPU: Int
    /// The maximum number of commit envelopes queued for one full link.
    package var maxWaiting: Int
    /// The credit of each gateway: unfinished commits and their bytes.
    package var credit: CommitCredit
    /// The next stages.
    package var committers: InstanceList
    package var fanouts: InstanceList
    /// How names are looked up.
    package var lookups: LookupPace
    /// What guards its links; nil for plain ones.
    package var linkKeys: LinkKeyFiles?

    package static let tick = Setting.milliseconds(
        "tick-ms", default: 16, in: 1...1000,
        "The least interval between previews of one element and connection, and the longest wait for those of others.")
    package static let maxEntries = Setting.int(
        "max-entries", default: 65_536, in: 1...10_000_000,
        "Moving elements (by connection) known at the same time; beyond it previews leave early.")
    package static let memory = Setting.milliseconds(
        "memory-ms", default: 30_000, in: 1000...600_000,
        "How long an element of an idle connection is remembered.")
    package static let maxWaiting = Setting.int(
        "max-waiting", default: 1024, in: 1...100_000,
        "Envelopes of commits queued for one committer; further ones are dropped and gateways retry.")

    package static let schema = SettingsSchema(
        "coalescer", summary: "collapses bursts of previews, paces rooms and passes commits on ahead of them.",
        [
            SharedSettings.bind, tick, SharedSettings.promptCPU, maxEntries, memory, maxWaiting,
            SharedSettings.creditCommits, SharedSettings.creditBytes, SharedSettings.committers,
            SharedSettings.fanouts, SharedSettings.lookupPause, SharedSettings.lookupPatience,
            SharedSettings.linkKeyFile, SharedSettings.peersFile,
        ])

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.bind = try values.required(SharedSettings.bind)
        self.limits = CoalescerLimits(
            tick: Nanoseconds(values[Self.tick]), maxEntries: values[Self.maxEntries],
            memory: Nanoseconds(values[Self.memory]))
        self.promptCPU = values[SharedSettings.promptCPU]
        self.maxWaiting = values[Self.maxWaiting]
        self.credit = CommitCredit(
            commits: UInt64(clamping: values[SharedSettings.creditCommits]),
            bytes: UInt64(clamping: values[SharedSettings.creditBytes]))
        self.committers = try values.instances(SharedSettings.committers)
        self.fanouts = try values.instances(SharedSettings.fanouts)
        self.lookups = LookupPace(values)
        self.linkKeys = try values.linkKeys(bound: [SharedSettings.bind])
    }
}
