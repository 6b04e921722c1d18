import Auth
import Boot
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import Stages
import Timing

/// Follows the files of keys and revocations while the gateway runs. A file that is wrong, or gone, is not accepted: the
/// rules in force stay.
struct TokenWatch {
    let services: [any Service]
    /// The rules that are in force from now on, each time that they change: the latest ones.
    let changes: AsyncStream<TokenSettings.Rules>

    /// A change is noticed within twice that: it must have settled.
    private static let pause = Nanoseconds.milliseconds(500)

    /// - Parameter settings: nil in open mode: nothing is followed.
    /// - Throws: when the process has no descriptor left.
    init(_ settings: TokenSettings?, _ context: DaemonContext) throws {
        let (changes, continuation) = AsyncStream.makeStream(
            of: TokenSettings.Rules.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        let files = settings.map { Self.files($0, context) { continuation.yield($0) } } ?? []
        self.services = try FileWatch.services(files, name: "tokens", every: Self.pause, context)
    }

    private static func files(
        _ settings: TokenSettings, _ context: DaemonContext, adopt: @escaping @Sendable (TokenSettings.Rules) -> Void
    ) -> [WatchedFile] {
        let rules = NIOLockedValueBox(settings.rules)
        var files: [WatchedFile] = []
        if let file = settings.keysFile {
            let report = FileReport(file.path, "keys", context)
            let contents = WatchedTokens(
                part: \.keys, rules: rules, report: report, adopt: adopt, read: settings.keys(in:),
                facts: { ["keys.count": "\($0.count)", "keys.former_count": "\($1.count)"] })
            files.append(WatchedFile(file.path, stamp: file.stamp, contents: contents))
        }
        if let file = settings.revocationsFile {
            let report = FileReport(file.path, "revocations", context)
            let contents = WatchedTokens(
                part: \.revocations, rules: rules, report: report, adopt: adopt, read: TokenSettings.revocations(in:),
                facts: { list, _ in ["revocations.count": "\(list.count)"] })
            files.append(
                WatchedFile(file.path, stamp: file.stamp, limit: TokenSettings.maxRevocationBytes, contents: contents))
        }
        return files
    }
}

/// The part of the rules that one file has.
private struct WatchedTokens<Part: Equatable & Sendable>: WatchedContents {
    let part: any WritableKeyPath<TokenSettings.Rules, Part> & Sendable
    let rules: NIOLockedValueBox<TokenSettings.Rules>
    let report: FileReport
    let adopt: @Sendable (TokenSettings.Rules) -> Void
    let read: @Sendable (Result<[UInt8], SettingRefusal>) throws(SettingRefusal) -> Part
    /// What is reported of the part and its former value.
    let facts: @Sendable (Part, Part) -> Logger.Metadata

    func fileRead(_ contents: Result<[UInt8], SettingRefusal>) {
        do throws(SettingRefusal) {
            let part = try self.read(contents)
            let former = self.rules.withLockedValue { exchange(&$0[keyPath: self.part], with: part) }
            guard part != former else { return self.report.unchanged() }
            self.report.changed(self.facts(part, former))
            self.adopt(self.rules.withLockedValue { $0 })
        } catch {
            self.report.refused(error.reason)
        }
    }
}
