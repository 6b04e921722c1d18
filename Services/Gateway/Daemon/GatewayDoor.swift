import Boot
import GatewayCore
import NIOCore
import SocketIO
import SocketIOServer
import Timing
import Wire

/// Who comes in: requests for this gateway, at a rate, from apps that say who they are. Used on the event loop only.
final class GatewayDoor {
    private var admission: AppAdmission
    private let hosts: HostPolicy
    private let limits: GatewayLimits
    private let telemetry: GatewayTelemetry
    /// What operators see of those who are not let in.
    let report: DoorReport

    init(settings: GatewaySettings, context: DaemonContext, telemetry: GatewayTelemetry) {
        self.admission = AppAdmission(
            limits: settings.limits, handshakesPerSecond: settings.handshakesPerSecond)
        self.hosts = settings.hosts
        self.limits = settings.limits
        self.telemetry = telemetry
        self.report = DoorReport(context)
    }

    private static var now: Instant { Instant(wholeMillisecondsOf: .now()) }

    /// What to tell whoever addresses the gateway by another name.
    static let wrongName = "The gateway has no such name; its setting hosts lists those it has."

    /// Whether a request addresses the gateway by one of its names.
    /// - Parameter address: where it comes from.
    func isAddressed(by head: HTTPRequestHead, from address: SocketAddress?) -> Bool {
        if self.hosts.admits(head) { return true }
        self.report.hostRefused(head.header("host"), from: address)
        return false
    }

    /// Whether one more connection may open now, or must come a moment later.
    func mayShakeHands() -> Bool {
        if self.admission.mayShakeHands(at: Self.now) { return true }
        self.telemetry.handshakesRefused.add()
        return false
    }

    /// What a connection may cost until it is known whose it is.
    func makeLimit() -> DoorLimit { DoorLimit(limits: self.limits) }

    /// An app asks to come in: it is identified by its handshake.
    /// - Parameters:
    ///   - guest: the user's name in open mode when the handshake gives none; nil: a random one.
    ///   - address: where it comes from; nil for back ends.
    ///   - key: the address whose limits it counts for; nil for none.
    ///   - limit: of its connection; nil when it has none that lasts.
    ///   - connections: of which each user may have a limited number; nil when it does not become one of them.
    func admit(
        auth: UnsafeRawBufferPointer, query: (StaticString) -> String?, header: (StaticString) -> String?,
        guest: String? = nil, from address: SocketAddress?, counted key: AddressKey?, within limit: inout DoorLimit?,
        by authenticator: Authenticator, among connections: Connections? = nil
    ) -> Result<(Identity, HandshakeFields), Refusal> {
        do throws(Denial) {
            let fields = try self.admission.fields(auth: auth, query: query, header: header)
            if fields.token != nil, authenticator.usesTokens { try self.startTokenCheck(counted: key, within: &limit) }
            let identity = try self.admission.identify(
                fields, by: authenticator, guest: guest, seconds: WallClock.seconds())
            do throws(Refusal) { try connections?.requireCapacity(for: identity.member.user) } catch {
                throw Denial(error)
            }
            return .success((identity, fields))
        } catch {
            if let failure = error.failure { self.report.tokenRefused(failure, from: address) }
            return .failure(error.refusal)
        }
    }

    private func startTokenCheck(counted key: AddressKey?, within limit: inout DoorLimit?) throws(Denial) {
        do throws(Refusal) {
            try limit?.startCheck(at: Self.now)
            try self.admission.startTokenCheck(of: key, at: Self.now)
        } catch {
            self.report.checkRefused()
            throw Denial(error)
        }
    }
}
