import Auth
import Boot
import Logging
import NIOCore

/// What operators see of requests that the gateway does not let in: counters, and of each kind at most one log line a
/// second. Whoever was refused learns less. Used on the event loop only.
final class AdmissionReport {
    private let logger: Logger
    private let hostsRefused: Counter
    private let tokensRefused: CounterFamily<TokenFailure>
    private let checksRefused: Counter
    private var hostLines = LogLimiter(every: .seconds(1))
    private var tokenLines = LogLimiter(every: .seconds(1))

    init(_ context: DaemonContext) {
        self.logger = context.logger
        self.hostsRefused = context.metrics.counter(
            "touchsync_gateway_hosts_refused_total",
            "Requests that addressed the gateway by a name that it does not have.")
        self.tokensRefused = context.metrics.counters(
            "touchsync_gateway_tokens_refused_total", "Tokens refused, by the check that failed.", label: "reason",
            of: TokenFailure.self)
        self.checksRefused = context.metrics.counter(
            "touchsync_gateway_token_checks_refused_total", "Tokens not checked, as too many came from one side.")
    }

    /// A token was refused.
    /// - Parameter address: of the client that presented it; nil when it was admitted before, or is a back end.
    func tokenRefused(_ failure: TokenFailure, from address: SocketAddress?) {
        self.tokensRefused[failure].add()
        guard let suppressed = self.tokenLines.admit(at: .now) else { return }
        self.logger.notice(
            "token refused",
            metadata: [
                "token.check": "\(failure.code)", "peer.address": "\(address?.ipAddress ?? "")",
                "log.suppressed": "\(suppressed)",
            ])
    }

    /// A token was not checked, as too many came from its connection or address.
    func checkRefused() { self.checksRefused.add() }

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
