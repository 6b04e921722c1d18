import Boot
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import SocketIOServer
import Stages
import Timing

/// Follows the files of a certificate and its key while the gateway runs. A pair that is wrong, or gone, is not accepted:
/// the one in force stays.
struct TLSWatch {
    let services: [any Service]
    /// What new connections get, each time that it changes: the latest only.
    let changes: AsyncStream<TLSIdentity>

    /// A change is noticed within twice this time, once it has settled. By then a program that replaces one file after
    /// the other has replaced both.
    private static let pause = Nanoseconds.milliseconds(500)

    /// - Parameter settings: nil without TLS: nothing is followed.
    /// - Throws: when the process has no descriptor left.
    init(_ settings: TLSSettings?, _ context: DaemonContext) throws {
        let (changes, continuation) = AsyncStream.makeStream(of: TLSIdentity.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        guard let settings else {
            self.services = []
            return
        }
        let files = WatchedPair(settings, context) { continuation.yield($0) }
        self.services = try FileWatch.services(
            [settings.certificateFile, settings.keyFile].map {
                WatchedFile($0.path, stamp: $0.stamp, contents: files)
            }, name: "certificates", every: Self.pause, context)
    }
}

/// Both files: whichever of them changed, they are read together.
private struct WatchedPair: WatchedContents {
    private let settings: TLSSettings
    private let inForce: NIOLockedValueBox<TLSIdentity>
    private let report: FileReport
    private let expiry: Gauge
    private let adopt: @Sendable (TLSIdentity) -> Void

    init(_ settings: TLSSettings, _ context: DaemonContext, adopt: @escaping @Sendable (TLSIdentity) -> Void) {
        self.settings = settings
        self.inForce = NIOLockedValueBox(settings.identity)
        self.report = FileReport(settings.certificateFile.path, "certificates", context)
        self.expiry = context.metrics.gauge(
            "touchsync_gateway_certificate_expiry_timestamp_seconds",
            "When the certificate expires, in seconds since 1970.")
        self.adopt = adopt
        self.expiry.set(settings.identity.expiry)
    }

    func fileRead(_ contents: Result<[UInt8], SettingRefusal>) {
        do throws(TLSFileProblem) {
            let identity = try self.settings.read()
            let former = self.inForce.withLockedValue { exchange(&$0, with: identity) }
            guard identity != former else { return self.report.unchanged() }
            self.expiry.set(identity.expiry)
            self.report.changed(["certificates.expiry": "\(identity.expiry)"])
            self.adopt(identity)
        } catch {
            self.report.refused(error.isOfKey ? "\(self.settings.keyFile.path) \(error.reason)" : error.reason)
        }
    }
}
