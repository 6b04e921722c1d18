package import Auth
import Wire

/// Who an app is: by its token, or in open mode by its own word.
package struct Authenticator: Sendable {
    /// Nil in open mode.
    private let tokens: TokenVerifier?

    /// The colour of a user that names none.
    private static let plainColor = "#888888"

    /// - Parameter tokens: nil in open mode.
    package init(tokens: TokenVerifier?) {
        self.tokens = tokens
    }

    /// Who an app is, from its handshake.
    /// - Parameters:
    ///   - guest: the user's name in open mode when the handshake gives none.
    ///   - seconds: the time since 1970, for the token's end.
    package func identify(_ handshake: HandshakeFields, guest: String, seconds: Int64) throws(Denial) -> Identity {
        guard let tokens = self.tokens else {
            let user = handshake.user ?? guest
            return Identity(
                member: Member(
                    user: Identifier(user), name: handshake.name ?? user, color: handshake.color ?? Self.plainColor))
        }
        guard let token = handshake.token else {
            throw Denial(Refusal(.forbidden, "A token is required.", field: "token"))
        }
        let identity = try Self.identity(by: tokens, token, seconds: seconds)
        if let room = handshake.room, !identity.may(.view, in: room) { throw Denial(.mayNotView) }
        return identity
    }

    /// Who an app is by a new token, which must be the same user's.
    /// - Parameter token: what the app sent as one; nil when it was no text.
    func refresh(_ token: String?, of user: Identifier?, seconds: Int64) throws(Denial) -> Identity {
        guard let tokens = self.tokens else {
            throw Denial(Refusal(.invalid, "This server uses no tokens.", field: "token"))
        }
        guard let token else { throw Denial(Refusal(.invalid, "A token is a string.", field: "token")) }
        let identity = try Self.identity(by: tokens, token, seconds: seconds)
        guard identity.member.user == user else {
            throw Denial(Refusal(.forbidden, "The token is another user's.", field: "token"))
        }
        return identity
    }

    /// True in token mode.
    package var usesTokens: Bool { self.tokens != nil }

    /// Whether who was admitted before would still be: its token's key is in use and the token is not revoked.
    func stillAdmits(_ identity: Identity) -> Bool {
        guard let tokens = self.tokens, let token = identity.token else { return true }
        return tokens.stillAccepts(token, of: identity.member.user.text)
    }

    private static func identity(
        by tokens: TokenVerifier, _ token: String, seconds: Int64
    ) throws(Denial) -> Identity {
        do {
            let claims = try tokens.verify(token, at: seconds)
            let member = Member(
                user: Identifier(claims.user), name: claims.name ?? claims.user, color: claims.color ?? Self.plainColor)
            return Identity(
                member: member, rights: claims.rights, expiresAt: claims.expiresAt,
                endsAt: claims.expiresAt + tokens.leeway, token: claims.token)
        } catch {
            throw Denial(error)
        }
    }
}
