internal import Boot
internal import CoalescerDaemon
internal import CommitterDaemon
internal import GatewayDaemon

extension StageCatalog {
    /// The daemons of this package.
    package static let installed = StageCatalog(
        settings: [
            .gateway: GatewaySettings.self, .coalescer: CoalescerSettings.self, .committer: CommitterSettings.self,
            .fanout: PendingFanout.self,
        ],
        migrations: CommitterDaemon.migrations)
}

// Stands in until the fan-out declares its own settings.
private struct PendingFanout: DaemonSettings {
    static let schema = SettingsSchema(
        "fanout", summary: "delivers.", [SharedSettings.bind, SharedSettings.databaseURL])
    init(_ values: SettingValues) throws(SettingProblem) {}
}
