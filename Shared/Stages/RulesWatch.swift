package import Boot
package import Canvas
internal import Logging
internal import NIOConcurrencyHelpers
package import ServiceLifecycle
internal import Wire

/// Passes rules from the thread that reads their file to the thread that applies them: the latest ones, once.
package final class RulesInbox: Sendable {
    private let latest = NIOLockedValueBox<RulesTable?>(nil)

    package init() {}

    /// Replaces the rules inside, if there are any.
    package func put(_ rules: RulesTable) { self.latest.withLockedValue { $0 = rules } }

    /// Moves out the rules inside; nil when there are none.
    package func next() -> RulesTable? { self.latest.withLockedValue { $0.take() } }
}

/// Reads a daemon's rules file again whenever it has changed, and on SIGHUP.
package enum RulesWatch {
    /// The services that follow a file.
    /// - Parameter adopt: called on another thread with rules that are to be in force from now on.
    /// - Throws: when the process has no descriptor left.
    package static func services(
        _ file: RulesFile, _ context: DaemonContext, adopt: @escaping @Sendable (RulesTable) -> Void
    ) throws -> [any Service] {
        let watched = file.path.map { path in
            let report = FileReport(path, "rules", context)
            let contents = WatchedRules(rules: ReloadableRules(file.table), report: report, adopt: adopt)
            return WatchedFile(path, stamp: file.stamp, contents: contents)
        }
        return try FileWatch.services(watched.map { [$0] } ?? [], name: "rules", context)
    }
}

private struct WatchedRules: WatchedContents {
    /// Changes beyond this number are not listed in the log.
    private static let loggedChanges = 20

    var rules: ReloadableRules
    let report: FileReport
    let adopt: @Sendable (RulesTable) -> Void

    mutating func fileRead(_ contents: Result<[UInt8], SettingRefusal>) {
        switch self.rules.fileRead(contents) {
        case .changed(let changes):
            self.report.changed([
                "rules.changes": "\(Self.listed(changes))",
                "rules.fingerprint": "\(String(self.rules.table.fingerprint, radix: 16))",
            ])
            self.adopt(self.rules.table)
        case .unchanged: self.report.unchanged()
        case .refused(let reason): self.report.refused(reason)
        }
    }

    private static func listed(_ changes: [String]) -> String {
        let listed = changes.prefix(Self.loggedChanges).joined(separator: "; ")
        let more = changes.count - Self.loggedChanges
        return more > 0 ? "\(listed); \(more) more" : listed
    }
}
