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
    /// clocks that differ, as at the door. Nil: never (open mode).
    package var endsAt: Int64?

    /// An identity.
    package init(
        member: Member, rights: RoomRights? = nil, expiresAt: Int64? = nil, endsAt: Int64? = nil
    ) {
        self.member = member
        self.rights = rights
        self.expiresAt = expiresAt
        self.endsAt = endsAt
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

extension Refusal {
    /// The answer to an app whose token was refused.
    package init(_ failure: TokenFailure) {
        let code: RefusalCode = failure == .expired ? .sessionExpired : .forbidden
        self.init(code, "the token was refused: \(failure.code)", field: "token")
    }
}
