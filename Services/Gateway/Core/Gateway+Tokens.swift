package import Auth
import Timing
import Wire

/// What becomes of connections as their tokens change, end, or are not valid any more.
extension Gateway {
    /// Warns apps whose tokens end soon and disconnects those whose tokens have ended. The shell calls it once in a
    /// while, in token mode only.
    /// - Parameter seconds: the time since 1970.
    package mutating func checkTokens(at seconds: Int64, into actions: inout [GatewayAction]) {
        self.relay.connections.expireTokens(at: seconds, into: &actions)
    }

    /// Other keys or revocations are in force. Connections that would not be admitted any more are closed, and nothing that
    /// waits for its turn on behalf of such a token is done: joins, events behind them, commits that were not sent yet.
    /// A commit in flight may have been applied already, so it stays in flight until its result.
    package mutating func tokensChanged(_ tokens: TokenVerifier, into actions: inout [GatewayAction]) {
        for slot in self.authenticator.tokensChanged(tokens, self.relay.connections) {
            let commits = self.relay.connections.bySlot[slot]?.commits.removeAll() ?? []
            self.commits.drop(commits, .tokenNotValid, &self.relay.connections, into: &actions)
            actions.append(.emit(slot, json: EventText.tokenNotValid))
            actions.append(.disconnect(slot))
        }
        self.commits.dropLeftBehind(unless: self.authenticator.stillAdmits, &self.relay.connections, into: &actions)
    }

    /// `auth:refresh`: a new token for the same user.
    mutating func refreshToken(_ event: IncomingEvent, seconds: Double, into actions: inout [GatewayAction]) {
        let former = self.relay.connections.bySlot[event.slot]?.identity.member
        let lost = self.authenticator.refreshReceived(
            event, &self.relay.connections, seconds: Int64(seconds), into: &actions)
        for room in lost { self.lose(room, slot: event.slot, at: event.now, seconds: seconds, into: &actions) }
        guard let connection = self.relay.connections.bySlot[event.slot], connection.identity.member != former else {
            return
        }
        // Rooms that are being joined hear of it behind the answer.
        for (room, membership) in connection.memberships where membership.hasJoined {
            actions.append(connection.renamed(in: room))
        }
    }

    /// A new token gives no right to a room: the connection leaves it, and what waits for its join is refused.
    private mutating func lose(
        _ room: Identifier, slot: Slot, at now: Instant, seconds: Double, into actions: inout [GatewayAction]
    ) {
        guard let membership = self.leave(room, slot: slot, into: &actions) else { return }
        if let request = membership.join {
            self.joins.refuse(request, .mayNotView, &self.relay, into: &actions)
        }
        let released = Joins.Released(slot: slot, room: room, events: membership.waiting)
        self.handle(released, at: now, seconds: seconds, into: &actions)
    }
}
