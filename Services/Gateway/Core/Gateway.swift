package import Auth
package import Timing
package import Wire

/// What the gateway decides, from apps' events to actions; one value for all connections of one process.
///
///     app event ──► reader ──► preview ──► relay ────► coalescer
///                         ├──► commit ───► commits ──► committer (again, until a result)
///                         └──► join ─────► joins ────► fan-out
///     fan-out ────► relay ──► members        committer ──► result ──► commits ──► app
///
/// What concerns several parts comes here; what concerns the relay or the commits in flight alone goes straight to them. An
/// event whose effect depends on time comes with the present moment. Each appends what is to be done to the caller's actions,
/// which the shell performs in order. The parts keep their own rules and are lent the others that they need. A gateway keeps
/// no truth about rooms: only who listens, up to where each room's stream was delivered, and the commits in flight.
package struct Gateway {
    /// Who apps are.
    package internal(set) var authenticator: Authenticator
    /// The apps and the rooms that they are in.
    package var relay: Relay
    /// Joins without an answer.
    package internal(set) var joins: Joins
    /// Requests over HTTP without an answer.
    package internal(set) var requests: HTTPRequests
    /// Commits without a result.
    package var commits: Commits
    var orphans = OrphanedGestures()
    var reader: EventReader
    package internal(set) var eventsTotal: UInt64 = 0
    /// The moment of the latest event after which something may wait for the clock.
    var clock = Instant.start

    /// A gateway without connections.
    /// - Parameters:
    ///   - name: its mesh name, which commits carry so that results find back.
    ///   - connectionPrefix: tells this process's connections from all others'; random at each start.
    ///   - limits: what apps may ask.
    ///   - seed: for the ids of elements that apps create without one, the numbers of requests, and traces; random at each
    ///     start.
    ///   - tokens: nil in open mode.
    package init(
        name: Identifier, connectionPrefix: UInt32, seed: UInt64, limits: GatewayLimits, tokens: TokenVerifier?
    ) {
        self.authenticator = Authenticator(tokens: tokens)
        self.relay = Relay(connectionPrefix: connectionPrefix, limits: limits)
        self.joins = Joins(limits: limits, seed: seed)
        self.requests = HTTPRequests(limits: limits, seed: seed)
        self.commits = Commits(gateway: name, limits: limits, seed: seed)
        self.reader = EventReader(limits: limits, seed: seed)
    }

    package var refusedTotal: UInt64 { self.relay.connections.refusedTotal + self.requests.refusedTotal }

    /// Commits, joins and reads refused because too many waited.
    package var busyTotal: UInt64 { self.commits.inFlight.busyTotal + self.joins.busyTotal + self.requests.busyTotal }

    // MARK: Time

    /// How often held previews, delayed commits and queued joins are looked at, and all else that waits.
    private static let (shortLook, longLook) = (Nanoseconds.milliseconds(16), Nanoseconds.milliseconds(50))

    /// When ``timeReached(_:seconds:into:)`` is due; nil when nothing waits for the clock.
    package var nextDeadline: Instant? {
        let isRestless = !self.relay.connections.restless.isEmpty || self.commits.hasLeftBehind
        if isRestless || self.joins.queuedCount > 0 { return self.clock + Self.shortLook }
        let isWaiting =
            self.commits.inFlight.count > 0 || !self.joins.isEmpty || self.requests.readCount > 0
            || self.relay.rooms.hasQuestions
        if isWaiting { return self.clock + Self.longLook }
        return self.orphans.nextDeadline
    }

    /// Time has passed: held previews, delayed commits, repetitions, deadlines, orphaned gestures.
    /// - Parameter seconds: the time since 1970, for tokens.
    package mutating func timeReached(_ now: Instant, seconds: Double, into actions: inout [GatewayAction]) {
        self.clock = now
        for slot in self.relay.connections.restless {
            self.commits.releaseWaiting(of: slot, &self.relay.connections, at: now, into: &actions)
            self.relay.releaseWaiting(of: slot, at: now, into: &actions)
        }
        self.commits.timeReached(now, &self.relay.connections, into: &actions)
        self.relay.rooms.recent.timeReached(now)
        self.relay.rooms.repeatQuestions(at: now, self.relay.connections, into: &actions)
        for released in self.joins.timeReached(now, &self.relay, into: &actions) {
            self.handle(released, at: now, seconds: seconds, into: &actions)
        }
        self.requests.timeReached(now, &self.joins.answers, into: &actions)
        self.admitAnswers(at: now, into: &actions)
        self.orphans.timeReached(now, into: &actions)
    }
}
