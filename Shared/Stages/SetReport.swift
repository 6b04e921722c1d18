package import Boot
internal import Logging

/// What operators see of a stage's set: log, note in `/readyz`, metrics.
package struct SetReport: Sendable {
    private let setting: String
    private let source: String
    private let logger: Logger
    private let note: HealthNote
    private let instances: Gauge
    private let changes: Counter
    private let failures: Counter
    private let isStale: Gauge

    /// - Parameters:
    ///   - setting: the set's, such as `fanouts`.
    ///   - source: where it comes from, as the setting has it.
    package init(_ setting: String, source: String, _ context: DaemonContext) {
        self.setting = setting
        self.source = source
        self.logger = context.logger
        self.note = context.health.note(setting)
        let labels: MetricsRegistry.Labels = ["set": setting]
        self.instances = context.metrics.gauge(
            "touchsync_set_instances", "Instances of a stage that this daemon knows.", labels: labels)
        self.changes = context.metrics.counter(
            "touchsync_set_changes_total", "Times that instances came into the set or left it.", labels: labels)
        self.failures = context.metrics.counter(
            "touchsync_set_failures_total", "Times that the set's source was wrong or did not answer.", labels: labels)
        self.isStale = context.metrics.gauge(
            "touchsync_set_stale", "1 while the set's source is wrong or does not answer, and the earlier set stays.",
            labels: labels)
    }

    /// There are this many instances at start.
    package func started(_ count: Int) { self.instances.set(count) }

    /// Other instances are known from now on.
    package func changed(added: [String], removed: [String], count: Int) {
        self.answered()
        self.changes.add()
        self.instances.set(count)
        self.logger.notice(
            "instances changed",
            metadata: [
                "set.name": "\(self.setting)", "set.added": "\(added.joined(separator: " "))",
                "set.removed": "\(removed.joined(separator: " "))", "set.instances": "\(count)",
            ])
    }

    /// The source has what is known already.
    package func answered() {
        self.isStale.set(0)
        self.note.say(nil)
    }

    /// The source is wrong or does not answer: what is known stays.
    /// - Parameters:
    ///   - reason: with the line, if there is one.
    ///   - isNew: false when the last answer had the same reason, which is not logged again.
    package func failed(_ reason: String, isNew: Bool) {
        self.failures.add()
        self.isStale.set(1)
        guard isNew else { return }
        self.note.say("\(self.source) is not accepted, the instances known stay: \(reason)")
        self.logger.error(
            "set not accepted: the instances known stay",
            metadata: ["set.name": "\(self.setting)", "set.source": "\(self.source)", "reason": "\(reason)"])
    }
}
