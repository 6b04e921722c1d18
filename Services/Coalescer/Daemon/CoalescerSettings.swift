package import Boot
package import CoalescerCore
internal import Timing
package import Wire

/// What an operator may set on a coalescer; the schema holds names, defaults and ranges.
package struct CoalescerSettings: DaemonSettings {
    /// Where gateways connect: the commits' lane; the previews' lane stands beside it.
    package var bind: String
    /// The pace, and how many keys may be known.
    package var limits: CoalescerLimits
    /// Envelopes of commits that may wait for one committer that takes no more at present.
    package var maxWaiting: Int
    /// How many commits of one gateway, and bytes of them, may be on their way through here.
    package var credit: CommitCredit
    /// The stages behind.
    package var committers: [PeerAddress]
    package var fanouts: [PeerAddress]

    package static let tick = Setting.milliseconds(
        "tick-ms", default: 16, in: 1...1000, "Interval at which a busy room sends its previews.")
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
            SharedSettings.bind, tick, maxEntries, memory, maxWaiting, SharedSettings.creditCommits,
            SharedSettings.creditBytes, SharedSettings.committers, SharedSettings.fanouts,
        ])

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.bind = try values.required(SharedSettings.bind)
        self.limits = CoalescerLimits(
            tick: Nanoseconds(values[Self.tick]), maxEntries: values[Self.maxEntries],
            memory: Nanoseconds(values[Self.memory]))
        self.maxWaiting = values[Self.maxWaiting]
        self.credit = CommitCredit(
            commits: UInt64(clamping: values[SharedSettings.creditCommits]),
            bytes: UInt64(clamping: values[SharedSettings.creditBytes]))
        self.committers = values[SharedSettings.committers]
        self.fanouts = values[SharedSettings.fanouts]
        for setting in [SharedSettings.committers, SharedSettings.fanouts] where values[setting].isEmpty {
            throw values.problem(setting, "must name at least one")
        }
    }
}
