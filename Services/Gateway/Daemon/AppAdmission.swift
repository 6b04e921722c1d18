import GatewayCore
import JSONBytes
import SocketIOServer
import Timing
import Wire

/// Who may come in: connections at a rate, and apps by their handshakes.
struct AppAdmission {
    private let limits: JSONLimits
    private var rate: RateMeter
    private var addresses: RateBudget<AddressKey>

    /// - Parameter handshakesPerSecond: as many may come together after a pause.
    init(limits: GatewayLimits, handshakesPerSecond: Int) {
        self.limits = limits.json
        self.addresses = RateBudget(
            perSecond: limits.addressTokenChecksPerSecond, burst: limits.addressTokenChecksPerSecond * DoorLimit.burst)
        self.rate = RateMeter(perSecond: handshakesPerSecond)
    }

    /// Whether one more connection may open now.
    mutating func mayShakeHands(at now: Instant) -> Bool { self.rate.spend(at: now) }

    /// A token of an address is about to be checked; `nil` for one that is not limited.
    mutating func startTokenCheck(of address: AddressKey?, at now: Instant) throws(Refusal) {
        guard let address, let wait = self.addresses.spend(of: address, at: now) else { return }
        throw .tooManyTokens(retryAfterMs: wait)
    }

    /// Identifies an app by its handshake.
    /// - Parameters:
    ///   - guest: the user's name in open mode when the handshake gives none; nil: a random one.
    ///   - seconds: the time since 1970, for the token's end.
    func identify(
        _ fields: HandshakeFields, by authenticator: Authenticator, guest: String?, seconds: Int64
    ) throws(Denial) -> Identity {
        try authenticator.identify(fields, guest: guest ?? Self.guestName(), seconds: seconds)
    }

    /// What an app names when it connects.
    func fields(
        auth: UnsafeRawBufferPointer, query: (StaticString) -> String?, header: (StaticString) -> String?
    ) throws(Denial) -> HandshakeFields {
        do throws(Refusal) { return try self.read(auth: auth, query: query, header: header) } catch {
            throw Denial(error)
        }
    }

    private func read(
        auth: UnsafeRawBufferPointer, query: (StaticString) -> String?, header: (StaticString) -> String?
    ) throws(Refusal) -> HandshakeFields {
        var document = JSONDocument()
        if !auth.isEmpty {
            let fault: JSONError?
            do {
                fault = try document.parseWellFormed(Array(auth), limits: self.limits)
            } catch {
                throw Refusal(.invalid, "The auth payload is not valid JSON.", field: "auth")
            }
            if let fault { throw Refusal(fault, in: document.root, limits: self.limits) }
        }
        return try HandshakeFields(auth: auth.isEmpty ? nil : document.root, query: query, header: header)
    }

    /// A random name: of 15 bytes, which a text stores without memory of its own.
    private static func guestName() -> String {
        // 36^8 up to 36^9: nine digits.
        "guest-" + String(Int.random(in: 2_821_109_907_456..<101_559_956_668_416), radix: 36)
    }
}
