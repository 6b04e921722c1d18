package import Boot
package import Logging

/// What operators see of a file that may change while the daemon runs: log, note in `/readyz`, metrics.
package struct FileReport: Sendable {
    private let path: String
    private let subject: String
    private let logger: Logger
    private let note: HealthNote
    private let changes: Counter
    private let refusals: Counter
    private let isRefused: Gauge

    /// - Parameter subject: what the file contains, a plural such as `rules`.
    package init(_ path: String, _ subject: String, _ context: DaemonContext) {
        self.path = path
        self.subject = subject
        self.logger = context.logger
        self.note = context.health.note(subject)
        func reloads(_ outcome: String) -> Counter {
            context.metrics.counter(
                "touchsync_file_reloads_total", "Times that a file was read again, by what it contains and outcome.",
                labels: ["file": subject, "outcome": outcome])
        }
        self.changes = reloads("changed")
        self.refusals = reloads("refused")
        self.isRefused = context.metrics.gauge(
            "touchsync_file_refused", "1 while a file is not accepted and its earlier contents stay in force.",
            labels: ["file": subject])
    }

    /// Other contents are accepted: they are in force a moment later, where they are used.
    /// - Parameter metadata: what changed.
    package func changed(_ metadata: Logger.Metadata) {
        self.changes.add()
        self.accepted()
        self.logger.notice("\(self.subject) changed", metadata: metadata.merging(self.file) { $1 })
    }

    /// The file contains what is in force already.
    package func unchanged() {
        self.accepted()
        self.logger.info("\(self.subject) are unchanged", metadata: self.file)
    }

    /// The file is not accepted.
    /// - Parameter reason: with the line, if there is one.
    package func refused(_ reason: String) {
        self.refusals.add()
        self.isRefused.set(1)
        self.note.say("\(self.path) is not accepted, earlier \(self.subject) stay in force: \(reason)")
        self.logger.error(
            "\(self.subject) file not accepted: earlier \(self.subject) stay in force",
            metadata: ["reason": "\(reason)"].merging(self.file) { $1 })
    }

    private var file: Logger.Metadata { ["\(self.subject).file": "\(self.path)"] }

    private func accepted() {
        self.isRefused.set(0)
        self.note.say(nil)
    }
}
