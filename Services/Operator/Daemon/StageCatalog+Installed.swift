internal import Boot

extension StageCatalog {
    /// The daemons of this package.
    package static let installed = StageCatalog(
        settings: [
            .gateway: PendingGateway.self, .coalescer: PendingCoalescer.self, .committer: PendingCommitter.self,
            .fanout: PendingFanout.self,
        ],
        migrations: [])
}

// Stand-ins until the daemons declare their own settings.
private struct PendingGateway: DaemonSettings {
    static let schema = SettingsSchema(
        "gateway", summary: "speaks to apps.",
        [
            Setting.int("port", default: 8080, in: 1...65535, "Port."),
            Setting.string("host", default: "127.0.0.1", "Host."),
            SharedSettings.coalescers, SharedSettings.committers, SharedSettings.fanouts, SharedSettings.jwtSecret,
            SharedSettings.jwtKeysFile, SharedSettings.jwtIssuer, SharedSettings.jwtAudience,
        ])
    init(_ values: SettingValues) throws(SettingProblem) {}
}
private struct PendingCoalescer: DaemonSettings {
    static let schema = SettingsSchema(
        "coalescer", summary: "collapses previews.",
        [SharedSettings.bind, SharedSettings.committers, SharedSettings.fanouts])
    init(_ values: SettingValues) throws(SettingProblem) {}
}
private struct PendingCommitter: DaemonSettings {
    static let schema = SettingsSchema(
        "committer", summary: "writes commits.",
        [SharedSettings.bind, SharedSettings.fanouts, SharedSettings.databaseURL])
    init(_ values: SettingValues) throws(SettingProblem) {}
}
private struct PendingFanout: DaemonSettings {
    static let schema = SettingsSchema(
        "fanout", summary: "delivers.", [SharedSettings.bind, SharedSettings.databaseURL])
    init(_ values: SettingValues) throws(SettingProblem) {}
}
