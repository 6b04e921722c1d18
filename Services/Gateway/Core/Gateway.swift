package import Auth
package import Timing
package import Wire

/// What the gateway decides, from apps' events to actions; one value for all connections of one process.
///
///     app event ──► reader ──► preview ──► pacer ────► coalescer
///                         ├──► commit ───► custody ──► coalescer (again, the other way, until a result)
///                         └──► join ─────► joins ────► fan-out
///     fan-out ────► streams, pacer ──► members        committer ──► result ──► custody ──► app
///
/// Every event comes with the present moment and appends what is to be done to the caller's actions, which the shell
/// performs in order. Each part knows its own rules and no other part; what one of them says is routed here. The gateway
/// keeps no truth about rooms: only who listens, up to where each room's stream was delivered, and the commits in its
/// custody.
package struct Gateway {
    /// Who apps are.
    package let authenticator: Authenticator
    /// The apps, and what they do in their rooms.
    package internal(set) var connections: Connections
    /// Joins without an answer.
    package internal(set) var joins: Joins
    /// Reads over HTTP without an answer.
    package internal(set) var reads: RoomReads
    /// Commits without a result.
    package internal(set) var custody: Custody
    var recent = RecentAcknowledgements()
    var streams = RoomStreams()
    var pacer: PreviewPacer
    var orphans = OrphanedGestures()
    var reader: EventReader
    /// What is counted here; parts count for themselves.
    var tally = GatewayCounters()
    let name: Identifier
    let limits: Limits
    /// The moment of the latest event after which something may wait for the clock.
    var clock = Instant.start
    private var lastRequest: UInt64 = 0

    /// A gateway without connections.
    /// - Parameters:
    ///   - name: its mesh name, which commits carry so that results find back.
    ///   - connectionPrefix: tells this process's connections from all others'; random at each start.
    ///   - limits: what apps may ask.
    ///   - seed: for the ids of elements that apps create without one; random at each start.
    ///   - tokens: nil in open mode.
    package init(
        name: Identifier, connectionPrefix: UInt32, seed: UInt64, limits: Limits, tokens: TokenVerifier?
    ) {
        self.name = name
        self.limits = limits
        self.authenticator = Authenticator(tokens: tokens)
        self.connections = Connections(prefix: connectionPrefix)
        self.joins = Joins(limits: limits)
        self.reads = RoomReads(limits: limits)
        self.custody = Custody(limits: limits)
        self.pacer = PreviewPacer(limits: limits)
        self.reader = EventReader(limits: limits, seed: seed)
    }

    /// The paces of rooms.
    package var paces: RoomPaces { self.pacer.paces }

    /// How many rooms' previews wait for their pace or turn.
    package var waitingRoomCount: Int { self.pacer.waitingCount }

    /// Numbers a join or an HTTP request.
    mutating func newRequest() -> UInt64 {
        self.lastRequest += 1
        return self.lastRequest
    }

    // MARK: Time

    /// How often held previews, delayed commits and queued joins are looked at, and all else that waits.
    private static let (shortLook, longLook) = (Nanoseconds.milliseconds(16), Nanoseconds.milliseconds(50))

    /// When ``timeReached(_:seconds:into:)`` is due; nil when nothing waits for the clock.
    package var nextDeadline: Instant? {
        if !self.connections.restless.isEmpty || self.joins.queuedCount > 0 { return self.clock + Self.shortLook }
        if self.custody.count > 0 || self.joins.count > 0 || self.reads.count > 0 { return self.clock + Self.longLook }
        return self.orphans.nextDeadline
    }

    /// Time has passed: held previews, delayed commits, repetitions, deadlines, orphaned gestures.
    /// - Parameter seconds: the time since 1970, for tokens.
    package mutating func timeReached(_ now: Instant, seconds: Int64, into actions: inout [GatewayAction]) {
        self.clock = now
        for slot in self.connections.restless { self.releaseWaiting(of: slot, at: now, into: &actions) }
        for key in self.custody.timeReached(now, into: &actions) { self.commitExpired(key, into: &actions) }
        self.recent.timeReached(now)
        self.sendQueuedJoins(at: now, into: &actions)
        for join in self.joins.due(at: now) {
            if now >= join.deadline {
                self.joinExpired(join, at: now, seconds: seconds, into: &actions)
            } else {
                self.send(join, at: now, into: &actions)
            }
        }
        while let request = self.reads.nextExpired(at: now) { self.refuse(request, .roomUnavailable, into: &actions) }
        self.orphans.timeReached(now, into: &actions)
    }
}
