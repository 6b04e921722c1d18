package import Auth
package import Wire

/// Who a connection speaks for and what it may do.
package struct Identity: Equatable, Sendable {
    /// As others see the user.
    package var member: Member
    /// Rights by room; nil: every right in every room (open mode).
    package var rights: RoomRights?
    /// The token's `exp`, seconds since 1970; nil: none (open mode).
    package var expiresAt: Int64?
    /// When the connection ends unless it gets another token, seconds since 1970: later than `exp` by the leeway for
    /// clocks that differ, as at admission. Nil: never (open mode).
    package var endsAt: Int64?
    /// The token; nil: none (open mode).
    package var token: TokenReference?

    package init(
        member: Member, rights: RoomRights? = nil, expiresAt: Int64? = nil, endsAt: Int64? = nil,
        token: TokenReference? = nil
    ) {
        self.member = member
        self.rights = rights
        self.expiresAt = expiresAt
        self.endsAt = endsAt
        self.token = token
    }

    /// The user's right in a room; nil: none.
    package func right(in room: Identifier) -> Right? {
        guard let rights = self.rights else { return .commit }
        return rights.right(in: room.text)
    }

    /// True when the user has at least this right in the room.
    package func may(_ right: Right, in room: Identifier) -> Bool {
        guard let granted = self.right(in: room) else { return false }
        return granted >= right
    }
}

/// Whether an app was warned that its token ends soon.
struct TokenWarning {
    /// So long before its token ends an app is warned, s.
    private static let length: Int64 = 30
    private var wasGiven = false

    /// How many seconds are left of a token, 0 when it has ended; nil when there is nothing to warn of, or no more.
    /// - Parameter seconds: the time since 1970.
    mutating func secondsLeft(of identity: Identity, at seconds: Int64) -> Int64? {
        guard let expiresAt = identity.expiresAt, seconds + Self.length >= expiresAt else { return nil }
        if seconds >= identity.endsAt ?? expiresAt { return 0 }
        return exchange(&self.wasGiven, with: true) ? nil : max(1, expiresAt - seconds)
    }
}

/// Why an app is not who it says it is.
package struct Denial: Error, Equatable, Sendable {
    /// The answer to the app. It is the same for every invalid token, so that a stranger learns nothing from it; the
    /// token's owner can ask its issuer.
    package let refusal: Refusal
    /// Which check of the token failed, for logs and metrics only; nil when none was checked.
    package let failure: TokenFailure?

    /// A refusal before any token is checked, or after it was found valid.
    package init(_ refusal: Refusal) {
        self.refusal = refusal
        self.failure = nil
    }

    /// An invalid token. Expiry has an answer of its own, because an app then requests another token by itself; only the
    /// holder of a correctly signed token gets it.
    init(_ failure: TokenFailure) {
        self.refusal = failure == .expired ? .tokenExpired : .tokenNotValid
        self.failure = failure
    }
}

extension Refusal {
    private static let tokenText = "The token is not valid."
    static var tokenNotValid: Refusal { Refusal(.forbidden, Self.tokenText, field: "token") }
    fileprivate static var tokenExpired: Refusal { Refusal(.sessionExpired, Self.tokenText, field: "token") }
}
