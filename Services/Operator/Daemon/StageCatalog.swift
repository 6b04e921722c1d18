package import Boot
internal import CoalescerDaemon
internal import CommitterDaemon
internal import FanoutDaemon
internal import GatewayDaemon
internal import OperatorMonitor
package import Postgres
package import Stages

/// Stages are stopped in the order of their cases: intake first, so that each stage can pass on its pending work.
extension Stage {
    package var program: String { "touchsync-\(self.rawValue)" }

    /// How long an instance may take to stop before it is killed. The sum, with the database's own, is below 15 s.
    var window: Duration {
        switch self {
        case .gateway: .milliseconds(5000)
        case .coalescer: .milliseconds(2000)
        case .committer: .milliseconds(3000)
        case .fanout: .milliseconds(1500)
        }
    }
}

/// What the operator's command knows about the daemons. The executable provides the real ones; tests provide others.
package struct StageCatalog: Sendable {
    package var settings: [Stage: any DaemonSettings.Type]
    /// The database's migrations, ascending.
    package var migrations: [Migration]

    /// The daemons of this package.
    package static let installed = StageCatalog(
        settings: [
            .gateway: GatewaySettings.self, .coalescer: CoalescerSettings.self, .committer: CommitterSettings.self,
            .fanout: FanoutSettings.self,
        ],
        migrations: CommitterDaemon.migrations)

    package init(settings: [Stage: any DaemonSettings.Type], migrations: [Migration]) {
        precondition(Stage.allCases.allSatisfy { settings[$0] != nil }, "every stage has settings")
        self.settings = settings
        self.migrations = migrations
    }

    /// The settings schemas of all daemons, the monitor's included.
    package var schemas: [SettingsSchema] { Stage.allCases.map(self.schema) + [MonitorSettings.schema] }

    package func schema(_ stage: Stage) -> SettingsSchema {
        guard let type = self.settings[stage] else { preconditionFailure("every stage has settings") }
        return type.schema
    }
}
