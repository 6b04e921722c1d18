internal import Boot
internal import CoalescerDaemon
internal import CommitterDaemon
internal import FanoutDaemon
internal import GatewayDaemon
internal import Stages

extension StageCatalog {
    /// The daemons of this package.
    package static let installed = StageCatalog(
        settings: [
            .gateway: GatewaySettings.self, .coalescer: CoalescerSettings.self, .committer: CommitterSettings.self,
            .fanout: FanoutSettings.self,
        ],
        migrations: CommitterDaemon.migrations)
}
