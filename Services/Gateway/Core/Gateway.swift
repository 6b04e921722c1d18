package import Auth
package import Timing
package import Wire

/// What the gateway decides, from apps' events to actions; one value for all connections of one process.
///
///     app event ──► reader ──► preview ──► rooms ────► coalescer
///                         ├──► commit ───► commits ──► committer (again, until a result)
///                         └──► join ─────► joins ────► fan-out
///     fan-out ────► rooms ──► members        committer ──► result ──► commits ──► app
///
/// An event whose effect depends on time comes with the present moment. Each appends what is to be done to the caller's
/// actions, which the shell performs in order. Its parts keep their own rules and are lent the connections and rooms that they need. It keeps no
/// truth about rooms: only who listens, up to where each room's stream was delivered, and the commits in flight.
package struct Gateway {
    /// Who apps are.
    package internal(set) var authenticator: Authenticator
    /// The apps, and what they do in their rooms.
    package internal(set) var connections: Connections
    /// Joins without an answer.
    package internal(set) var joins: Joins
    /// Requests over HTTP without an answer.
    package internal(set) var requests: HTTPRequests
    /// Commits without a result.
    package internal(set) var commits: Commits
    /// What is known of rooms, and previews on their way.
    package internal(set) var rooms: Rooms
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
        self.connections = Connections(prefix: connectionPrefix, limits: limits)
        self.joins = Joins(limits: limits, seed: seed)
        self.requests = HTTPRequests(limits: limits, seed: seed)
        self.commits = Commits(gateway: name, limits: limits, seed: seed)
        self.rooms = Rooms(limits: limits)
        self.reader = EventReader(limits: limits, seed: seed)
    }

    package var refusedTotal: UInt64 { self.connections.refusedTotal + self.requests.refusedTotal }

    /// Commits, joins and reads refused because too many waited.
    package var busyTotal: UInt64 { self.commits.inFlight.busyTotal + self.joins.busyTotal + self.requests.busyTotal }

    // MARK: Time

    /// How often held previews, delayed commits and queued joins are looked at, and all else that waits.
    private static let (shortLook, longLook) = (Nanoseconds.milliseconds(16), Nanoseconds.milliseconds(50))

    /// When ``timeReached(_:seconds:into:)`` is due; nil when nothing waits for the clock.
    package var nextDeadline: Instant? {
        let isRestless = !self.connections.restless.isEmpty || self.commits.hasLeftBehind
        if isRestless || self.joins.queuedCount > 0 { return self.clock + Self.shortLook }
        let isWaiting =
            self.commits.inFlight.count > 0 || !self.joins.isEmpty || self.requests.readCount > 0
            || self.rooms.hasQuestions
        if isWaiting { return self.clock + Self.longLook }
        return self.orphans.nextDeadline
    }

    /// Time has passed: held previews, delayed commits, repetitions, deadlines, orphaned gestures.
    /// - Parameter seconds: the time since 1970, for tokens.
    package mutating func timeReached(_ now: Instant, seconds: Double, into actions: inout [GatewayAction]) {
        self.clock = now
        for slot in self.connections.restless { self.releaseWaiting(of: slot, at: now, into: &actions) }
        self.commits.timeReached(now, &self.connections, into: &actions)
        self.rooms.recent.timeReached(now)
        self.rooms.repeatQuestions(at: now, self.connections, into: &actions)
        for released in self.joins.timeReached(now, &self.connections, self.rooms, into: &actions) {
            self.handle(released, at: now, seconds: seconds, into: &actions)
        }
        self.requests.timeReached(now, &self.joins.answers, into: &actions)
        self.admitAnswers(at: now, into: &actions)
        self.orphans.timeReached(now, into: &actions)
    }

    /// Sends the commits and previews of a connection that waited for rate limits or results, as far as they may go.
    private mutating func releaseWaiting(of slot: Slot, at now: Instant, into actions: inout [GatewayAction]) {
        self.commits.releaseWaiting(of: slot, &self.connections, at: now, into: &actions)
        let released = self.connections.releasePreviews(of: slot, at: now)
        for preview in released.previews { self.rooms.send(preview, at: now, into: &actions) }
        for awareness in released.awareness { self.rooms.send(awareness, at: now, into: &actions) }
    }

    /// A turn of the event loop begins: the number of members that previews may be delivered to in it is reset.
    package mutating func turnBegan() { self.rooms.turnBegan() }

    /// The previews of each room wait for each other, because the gateway is busy.
    /// - Parameter share: of the longest wait; 0: they do not wait.
    package mutating func previewsWait(_ share: Double) { self.rooms.previewsWait(share) }

    /// When ``previewTimeReached(_:into:)`` is due; nil when no preview waits and no room is slowed down.
    package mutating func nextPreviewDeadline() -> Instant? { self.rooms.nextDeadline() }

    /// Time has passed: previews that are due go as far as this turn allows, and intervals are reviewed.
    package mutating func previewTimeReached(_ now: Instant, into actions: inout [GatewayAction]) {
        self.rooms.timeReached(now, self.connections, into: &actions)
    }
}
