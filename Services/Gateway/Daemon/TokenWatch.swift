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
    /// The services that look at the files.
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
        _ settings: TokenSettings, _ context: DaemonContext,
        adopt: @escaping @Sendable (TokenSettings.Rules) -> Void
    ) -> [WatchedFile] {
        let rules = NIOLockedValueBox(settings.rules)
        var files: [WatchedFile] = []
        if let file = settings.keysFile {
            let report = FileReport(file.path, "keys", context, prefix: "touchsync_gateway_")
            let contents = WatchedKeys(settings: settings, rules: rules, report: report, adopt: adopt)
            files.append(WatchedFile(file.path, stamp: file.stamp, contents: contents))
        }
        if let file = settings.revocationsFile {
            let report = FileReport(file.path, "revocations", context, prefix: "touchsync_gateway_")
            let contents = WatchedRevocations(rules: rules, report: report, adopt: adopt)
            files.append(
                WatchedFile(
                    file.path, stamp: file.stamp, limit: TokenSettings.maxRevocationBytes, contents: contents))
        }
        return files
    }
}

private struct WatchedKeys: WatchedContents {
    let settings: TokenSettings
    let rules: NIOLockedValueBox<TokenSettings.Rules>
    let report: FileReport
    let adopt: @Sendable (TokenSettings.Rules) -> Void

    func fileRead(_ contents: Result<[UInt8], SettingRefusal>) {
        do throws(SettingRefusal) {
            let keys = try self.settings.keys(in: contents)
            let former = self.rules.withLockedValue { exchange(&$0.keys, with: keys) }
            guard keys != former else { return self.report.unchanged() }
            self.report.changed(["keys.count": "\(keys.count)", "keys.former_count": "\(former.count)"])
            self.adopt(self.rules.withLockedValue { $0 })
        } catch {
            self.report.refused(error.reason)
        }
    }
}

private struct WatchedRevocations: WatchedContents {
    let rules: NIOLockedValueBox<TokenSettings.Rules>
    let report: FileReport
    let adopt: @Sendable (TokenSettings.Rules) -> Void

    func fileRead(_ contents: Result<[UInt8], SettingRefusal>) {
        do throws(SettingRefusal) {
            let list = try TokenSettings.revocations(in: contents)
            let former = self.rules.withLockedValue { exchange(&$0.revocations, with: list) }
            guard list != former else { return self.report.unchanged() }
            self.report.changed(["revocations.count": "\(list.count)"])
            self.adopt(self.rules.withLockedValue { $0 })
        } catch {
            self.report.refused(error.reason)
        }
    }
}
