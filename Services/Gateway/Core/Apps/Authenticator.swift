package import Auth
import JSONBytes
import Wire

/// Who an app is, by its token, or in open mode by its own word; and whether it still is, as tokens are replaced, end or
/// are revoked.
package struct Authenticator: Sendable {
    /// Nil in open mode.
    private var tokens: TokenVerifier?
    /// Connections ended because their tokens were not valid any more.
    package private(set) var revokedTotal: UInt64 = 0

    /// The colour of a user that names none.
    private static let plainColor = "#888888"

    package init(tokens: TokenVerifier?) { self.tokens = tokens }

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
    /// - Parameter value: what the app sent as one.
    private func refresh(_ value: JSONValue?, of user: Identifier?, seconds: Int64) throws(Denial) -> Identity {
        guard let tokens = self.tokens else {
            throw Denial(Refusal(.invalid, "This server uses no tokens.", field: "token"))
        }
        guard let value else { throw Denial(Refusal(.invalid, "A token is required.", field: "token")) }
        guard let token = value.string else {
            throw Denial(Refusal(.invalid, "A token is a string.", field: "token"))
        }
        let identity = try Self.identity(by: tokens, token, seconds: seconds)
        guard identity.member.user == user else {
            throw Denial(Refusal(.forbidden, "The token is another user's.", field: "token"))
        }
        return identity
    }

    package var usesTokens: Bool { self.tokens != nil }

    // MARK: Connections

    /// `auth:refresh`: a new token for the connection's user, or the refusal of one, is answered.
    /// - Returns: the rooms of the connection that the new token gives no right to.
    func refreshReceived(
        _ event: IncomingEvent, _ connections: inout Connections, seconds: Int64, into actions: inout [GatewayAction]
    ) -> [Identifier] {
        do throws(Denial) {
            try self.startCheck(of: event, &connections)
            let user = connections.bySlot[event.slot]?.identity.member.user
            let identity = try self.refresh(event.payload["token"], of: user, seconds: seconds)
            if let ackID = event.ackID {
                let json = AnswerText.refreshed(expiresAt: identity.expiresAt)
                actions.append(.acknowledge(event.slot, id: ackID, json: json))
            }
            return connections.bySlot[event.slot]?.identityChanged(identity) ?? []
        } catch {
            self.refuse(error, event, &connections, into: &actions)
            return []
        }
    }

    /// Without tokens nothing is checked, and an app that refreshes by habit harms nobody.
    private func startCheck(of event: IncomingEvent, _ connections: inout Connections) throws(Denial) {
        guard self.usesTokens else { return }
        do { try connections.bySlot[event.slot]?.admission.startCheck(at: event.now) } catch { throw Denial(error) }
    }

    private func refuse(
        _ denial: Denial, _ event: IncomingEvent, _ connections: inout Connections, into actions: inout [GatewayAction]
    ) {
        if let failure = denial.failure { actions.append(.tokenRefused(failure)) }
        connections.refuse(denial.refusal, event.origin, into: &actions)
        guard self.usesTokens, connections.bySlot[event.slot]?.admission.refused() == true else { return }
        actions.append(.expel(event.slot))
    }

    /// Other keys or revocations are in force.
    /// - Returns: the connections that would not be admitted any more.
    mutating func tokensChanged(_ tokens: TokenVerifier, _ connections: Connections) -> [Slot] {
        self.tokens = tokens
        let revoked = connections.bySlot.indices.filter { slot in
            connections.bySlot[slot].map { !self.stillAdmits($0.identity) } ?? false
        }
        self.revokedTotal += UInt64(revoked.count)
        return revoked
    }

    /// Whether who was admitted before would still be: its token's key is in use and the token is not revoked.
    func stillAdmits(_ identity: Identity) -> Bool {
        guard let tokens = self.tokens, let token = identity.token else { return true }
        return tokens.stillAccepts(token, of: identity.member.user.text)
    }

    private static func identity(by tokens: TokenVerifier, _ token: String, seconds: Int64) throws(Denial) -> Identity {
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
