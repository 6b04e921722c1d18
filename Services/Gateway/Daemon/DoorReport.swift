import Auth
import Boot
import Logging
import NIOCore

/// What operators see of requests that the gateway does not let in: counters, and of each kind at most one log line a
/// second. Whoever was refused learns less. Used on the event loop only.
final class DoorReport {
    private let logger: Logger
    private let hostsRefused: Counter
    private var hostLines = LogLimiter(every: .seconds(1))

    init(_ context: DaemonContext) {
        self.logger = context.logger
        self.hostsRefused = context.metrics.counter(
            "touchsync_gateway_hosts_refused_total",
            "Requests that addressed the gateway by a name that it does not have.")
    }

    /// A request addressed the gateway by another name.
    /// - Parameter host: its Host, which may be anything; the log escapes it.
    func hostRefused(_ host: String?, from address: SocketAddress?) {
        self.hostsRefused.add()
        guard let suppressed = self.hostLines.admit(at: .now) else { return }
        self.logger.warning(
            "request for another host refused",
            metadata: [
                "http.host": "\(host ?? "")", "peer.address": "\(address?.ipAddress ?? "")",
                "log.suppressed": "\(suppressed)",
            ])
    }
}
