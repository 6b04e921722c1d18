package import Auth
import JSONBytes
import Timing
import Wire

/// What becomes of connections as their tokens change, end, or are not valid any more.
extension Gateway {
    /// Warns apps whose tokens end soon and disconnects those whose tokens have ended. The shell calls it once in a
    /// while, in token mode only.
    /// - Parameter seconds: the time since 1970.
    package mutating func checkTokens(at seconds: Int64, into actions: inout [GatewayAction]) {
        self.connections.expireTokens(at: seconds, into: &actions)
    }

    /// Other keys or revocations are in force. Who would not be admitted any more is disconnected, and nothing that waits
    /// for its turn on behalf of such a token is done: joins, events behind them, commits that were not sent yet. A commit
    /// in custody may have been applied already, so it stays there until its result.
    package mutating func tokensChanged(_ tokens: TokenVerifier, into actions: inout [GatewayAction]) {
        self.authenticator = Authenticator(tokens: tokens)
        for slot in self.connections.bySlot.indices {
            guard let identity = self.connections.bySlot[slot]?.identity, !self.authenticator.stillAdmits(identity)
            else {
                continue
            }
            let commits = self.connections.bySlot[slot]?.withdrawCommits() ?? []
            self.commits.withdraw(commits, &self.connections, into: &actions)
            actions.append(.emit(slot, json: EventText.tokenNotValid))
            actions.append(.disconnect(slot))
            self.tally.revoked += 1
        }
        let authenticator = self.authenticator
        self.commits.withdrawLeftBehind { authenticator.stillAdmits($0) }
    }

    /// `auth:refresh`: a new token for the same user.
    mutating func refreshToken(
        _ event: IncomingEvent, seconds: Int64, into actions: inout [GatewayAction]
    ) {
        let identity: Identity
        do throws(Refusal) {
            identity = try self.refreshedIdentity(event, seconds: seconds, into: &actions)
        } catch {
            self.refreshRefused(event, error, into: &actions)
            return
        }
        let lost = self.connections.bySlot[event.slot]?.identityChanged(identity) ?? []
        if let ackID = event.ackID {
            let json = AnswerText.refreshed(expiresAt: identity.expiresAt)
            actions.append(.acknowledge(event.slot, id: ackID, json: json))
        }
        for room in lost { self.lose(room, slot: event.slot, at: event.now, seconds: seconds, into: &actions) }
    }

    private mutating func refreshedIdentity(
        _ event: IncomingEvent, seconds: Int64, into actions: inout [GatewayAction]
    ) throws(Refusal) -> Identity {
        let user = self.connections.bySlot[event.slot]?.identity.member.user
        if self.authenticator.usesTokens { try self.connections.bySlot[event.slot]?.startTokenCheck(at: event.now) }
        do throws(Denial) {
            return try self.authenticator.refresh(event.payload["token"]?.string, of: user, seconds: seconds)
        } catch {
            if let failure = error.failure { actions.append(.tokenRefused(failure)) }
            throw error.refusal
        }
    }

    private mutating func refreshRefused(
        _ event: IncomingEvent, _ refusal: Refusal, into actions: inout [GatewayAction]
    ) {
        self.connections.refuse(refusal, event.origin, into: &actions)
        // Without tokens nothing is checked, and an app that refreshes by habit harms nobody.
        guard self.authenticator.usesTokens, self.connections.bySlot[event.slot]?.tokenRefused() == true else { return }
        actions.append(.expel(event.slot))
    }

    /// A new token gives no right to a room: the connection leaves it, and what waits for its join is refused.
    private mutating func lose(
        _ room: Identifier, slot: Slot, at now: Instant, seconds: Int64, into actions: inout [GatewayAction]
    ) {
        guard let membership = self.leave(room, slot: slot, into: &actions) else { return }
        if let request = membership.join {
            self.joins.refuse(request, .mayNotView, &self.connections, into: &actions)
        }
        let released = Joins.Released(slot: slot, room: room, events: membership.waiting)
        self.handle(released, at: now, seconds: seconds, into: &actions)
    }
}
