package import Boot
package import Canvas
internal import Logging
internal import Mesh
internal import NIOConcurrencyHelpers
package import ServiceLifecycle
internal import Timing
internal import Wire

/// Passes rules from the thread that reads their file to the thread that applies them: the latest ones, once.
package final class RulesInbox: Sendable {
    private let latest = NIOLockedValueBox<RulesTable?>(nil)

    /// An inbox without rules.
    package init() {}

    /// Replaces the rules inside, if there are any.
    package func put(_ rules: RulesTable) { self.latest.withLockedValue { $0 = rules } }

    /// Moves out the rules inside; nil when there are none.
    package func next() -> RulesTable? { self.latest.withLockedValue { $0.take() } }
}

/// Reads a daemon's rules file again whenever it has changed, and on SIGHUP.
///
/// The file is examined once a second. That recognizes every way of replacing a file, without knowing its folders: one
/// written in place, one renamed over it, and a symbolic link anywhere on its path that now leads elsewhere, as in a
/// mounted ConfigMap. On a thread of its own, because all of it may block.
package enum RulesWatch {
    /// The services that follow a file.
    /// - Parameters:
    ///   - prefix: of the metrics' names.
    ///   - adopt: called on another thread with rules that are to be in force from now on.
    /// - Throws: when the process has no descriptor left.
    package static func services(
        _ file: RulesFile, _ context: DaemonContext, prefix: String,
        adopt: @escaping @Sendable (RulesTable) -> Void
    ) throws -> [any Service] {
        // A pipe, as a shell makes it of `<(…)`, can be read only once.
        guard let path = file.path, FileFacts(of: path, followsLink: true)?.isRegular ?? true else {
            let logger = context.logger
            return [HangUps { logger.info("there is no rules file to read again") }]
        }
        let report = RulesReport(context, prefix: prefix)
        let isRequested = NIOLockedValueBox(false)
        let reactor = try Reactor(name: "rules", logger: context.logger) { _ in
            RulesLoop(path, RulesFollower(file), report, isRequested, adopt)
        }
        let hangUps = HangUps {
            isRequested.withLockedValue { $0 = true }
            reactor.waker.signal()
        }
        return [ReactorService(reactor), hangUps]
    }
}

/// Each turn examines the file. The thread has no links, so it may block.
private final class RulesLoop: ReactorLoop {
    private static let pause = Nanoseconds.seconds(1)

    private let path: String
    private var follower: RulesFollower
    private let report: RulesReport
    private let isRequested: NIOLockedValueBox<Bool>
    private let adopt: @Sendable (RulesTable) -> Void

    init(
        _ path: String, _ follower: RulesFollower, _ report: RulesReport, _ isRequested: NIOLockedValueBox<Bool>,
        _ adopt: @escaping @Sendable (RulesTable) -> Void
    ) {
        self.path = path
        self.follower = follower
        self.report = report
        self.isRequested = isRequested
        self.adopt = adopt
    }

    func turn(at now: Instant) -> Instant? {
        let isRequested = self.isRequested.withLockedValue { exchange(&$0, with: false) }
        let stamp = FileStamp(of: self.path)
        if self.follower.examined(stamp) || isRequested { self.read(stamp) }
        return MonotonicClock.now() + Self.pause
    }

    private func read(_ stamp: FileStamp?) {
        let outcome = self.follower.read(self.contents(), from: stamp)
        self.report.read(self.path, outcome, self.follower.table)
        if case .changed = outcome { self.adopt(self.follower.table) }
    }

    private func contents() -> Result<RulesTable, SettingRefusal> {
        // Opening a pipe would wait for somebody to write.
        if let facts = FileFacts(of: self.path, followsLink: true), !facts.isRegular {
            return .failure(SettingRefusal(facts.isFolder ? "is a folder" : "is not a regular file"))
        }
        do throws(SettingRefusal) { return .success(try RulesFile(reading: self.path).table) } catch {
            return .failure(error)
        }
    }
}

/// What operators see of a rules file: log, note in `/readyz`, metrics.
private struct RulesReport: Sendable {
    /// Changes beyond this number are not listed in the log.
    private static let loggedChanges = 20

    private let logger: Logger
    private let note: HealthNote
    private let changes: Counter
    private let refusals: Counter
    private let isRefused: Gauge

    init(_ context: DaemonContext, prefix: String) {
        self.logger = context.logger
        self.note = context.health.note("rules")
        func reloads(_ outcome: String) -> Counter {
            context.metrics.counter(
                "\(prefix)rules_reloads_total", "Times that the rules file was read again, by outcome.",
                labels: ["outcome": outcome])
        }
        self.changes = reloads("changed")
        self.refusals = reloads("refused")
        self.isRefused = context.metrics.gauge(
            "\(prefix)rules_refused", "1 while the rules file is not accepted and earlier rules stay in force.")
    }

    func read(_ path: String, _ outcome: RulesFollower.Outcome, _ table: RulesTable) {
        switch outcome {
        case .changed(let changes):
            self.changes.add()
            self.accepted()
            let listed = changes.prefix(Self.loggedChanges).joined(separator: "; ")
            let more = changes.count - Self.loggedChanges
            self.logger.notice(
                "rules changed",
                metadata: [
                    "rules.file": "\(path)", "rules.changes": "\(more > 0 ? "\(listed); \(more) more" : listed)",
                    "rules.fingerprint": "\(String(table.fingerprint, radix: 16))",
                ])
        case .unchanged:
            self.accepted()
            self.logger.info("rules are unchanged", metadata: ["rules.file": "\(path)"])
        case .refused(let reason):
            self.refusals.add()
            self.isRefused.set(1)
            self.note.say("\(path) is not accepted, earlier rules stay in force: \(reason)")
            self.logger.error(
                "rules file not accepted: earlier rules stay in force",
                metadata: ["rules.file": "\(path)", "reason": "\(reason)"])
        }
    }

    private func accepted() {
        self.isRefused.set(0)
        self.note.say(nil)
    }
}
