package import Logging

/// What a daemon needs to build its services.
package struct DaemonContext: Sendable {
    package let name: String
    package let logger: Logger
    package let metrics: MetricsRegistry
    package let health: Health
    /// The admin server's pages; further ones can be added while building.
    package let pages: AdminPages

    package init(name: String, logger: Logger, metrics: MetricsRegistry = MetricsRegistry(), health: Health = Health())
    {
        self.name = name
        self.logger = logger
        self.metrics = metrics
        self.health = health
        self.pages = AdminPages(health: health, metrics: metrics)
    }

    /// For tests that run a daemon in their own process: no logs, no pages.
    package static func quiet(name: String) -> DaemonContext {
        DaemonContext(name: name, logger: Logger(label: name) { _ in SwiftLogNoOpLogHandler() })
    }
}
