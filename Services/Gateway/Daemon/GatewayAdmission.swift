import Boot
import GatewayCore
import JSONBytes
import NIOCore
import SocketIO
import SocketIOServer
import Timing
import Wire

/// Who comes in: requests for this gateway, at a rate, from apps that say who they are. Used on the event loop only.
final class GatewayAdmission {
    private var handshakes: RateMeter
    private var tokenChecks: RateBudget<AddressKey>
    private let hosts: HostPolicy
    private let limits: GatewayLimits
    private let telemetry: GatewayTelemetry
    /// What operators see of those who are not let in.
    let report: AdmissionReport

    init(settings: GatewaySettings, context: DaemonContext, telemetry: GatewayTelemetry) {
        self.limits = settings.limits
        self.handshakes = RateMeter(perSecond: settings.handshakesPerSecond)
        let checks = settings.limits.addressTokenChecksPerSecond
        self.tokenChecks = RateBudget(perSecond: checks, burst: checks * AdmissionLimit.burst)
        self.hosts = settings.hosts
        self.telemetry = telemetry
        self.report = AdmissionReport(context)
    }

    private static var now: Instant { Instant(.now()) }

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
        if self.handshakes.spend(at: Self.now) { return true }
        self.telemetry.handshakesRefused.add()
        return false
    }

    /// What a connection may cost until it is known whose it is.
    func makeLimit() -> AdmissionLimit { AdmissionLimit(limits: self.limits) }

    /// An app asks to come in: it is identified by its handshake.
    /// - Parameters:
    ///   - guest: the user's name in open mode when the handshake gives none; nil: a random one.
    ///   - address: where it comes from.
    ///   - key: the address whose limits it counts for; nil for none.
    ///   - limit: of its connection; nil when it has none that lasts.
    ///   - connections: of which each user may have a limited number; nil when it does not become one of them.
    func admit(
        auth: UnsafeRawBufferPointer, query: (StaticString) -> String?, header: (StaticString) -> String?,
        guest: String? = nil, from address: SocketAddress?, counted key: AddressKey?,
        within limit: inout AdmissionLimit?, by authenticator: Authenticator, among connections: Connections? = nil
    ) -> Result<(Identity, HandshakeFields), Refusal> {
        do throws(Denial) {
            let fields = try self.fields(auth: auth, query: query, header: header)
            if fields.token != nil, authenticator.usesTokens { try self.startTokenCheck(counted: key, within: &limit) }
            let identity = try authenticator.identify(
                fields, guest: guest ?? Self.guestName(), seconds: WallClock.seconds())
            do throws(Refusal) { try connections?.requireCapacity(for: identity.member.user) } catch {
                throw Denial(error)
            }
            return .success((identity, fields))
        } catch {
            if let failure = error.failure { self.report.tokenRefused(failure, from: address) }
            return .failure(error.refusal)
        }
    }

    private func startTokenCheck(counted key: AddressKey?, within limit: inout AdmissionLimit?) throws(Denial) {
        do throws(Refusal) {
            try limit?.startCheck(at: Self.now)
            guard let key, let wait = self.tokenChecks.spend(of: key, at: Self.now) else { return }
            throw .tooManyTokens(retryAfterMs: wait)
        } catch {
            self.report.checkRefused()
            throw Denial(error)
        }
    }

    private func fields(
        auth: UnsafeRawBufferPointer, query: (StaticString) -> String?, header: (StaticString) -> String?
    ) throws(Denial) -> HandshakeFields {
        do throws(Refusal) {
            var document = JSONDocument()
            if !auth.isEmpty { try self.parse(auth, into: &document) }
            return try HandshakeFields(auth: auth.isEmpty ? nil : document.root, query: query, header: header)
        } catch {
            throw Denial(error)
        }
    }

    private func parse(_ auth: UnsafeRawBufferPointer, into document: inout JSONDocument) throws(Refusal) {
        let limits = self.limits.json
        let fault: JSONError?
        do { fault = try document.parseWellFormed(Array(auth), limits: limits) } catch {
            throw Refusal(.invalid, "The auth payload is not valid JSON.", field: "auth")
        }
        if let fault { throw Refusal(fault, in: document.root, limits: limits) }
    }

    /// A random name: of 15 bytes, which a text stores without memory of its own.
    private static func guestName() -> String {
        // 36^8 up to 36^9: nine digits.
        "guest-" + String(Int.random(in: 2_821_109_907_456..<101_559_956_668_416), radix: 36)
    }
}
