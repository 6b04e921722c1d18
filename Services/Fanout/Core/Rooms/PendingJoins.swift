internal import Timing
internal import Wire

/// A join on its way to an answer: it needs the room, the session and, with `resume`, perhaps a part of the log.
///
///     session unknown ──identify──► new ────────────────────► ready
///                           ├─────► claiming ──► granted ───► ready
///                           └─────► foreign, or claimed by another user: refused
///
/// A join that comes again after its answer is granted the same session once more.
struct PendingJoin: Sendable {
    enum Session: Equatable, Sendable {
        /// Not looked at yet: nothing is known of the database.
        case unknown
        /// A new one is issued with the answer.
        case new
        /// The secret is good; the session is being claimed for this connection.
        case claiming(sid: Identifier)
        /// It is this connection's.
        case granted(GrantedSession)
    }

    enum Replay: Sendable {
        case notAsked
        case asked
        /// What the log had, or nothing at all.
        case answered([Update])

        var rows: [Update]? { if case .answered(let rows) = self { rows } else { nil } }
    }

    let gateway: GatewayID
    let join: Join
    let arrivedAt: Instant
    let expiresAt: Instant
    private(set) var session: Session
    /// Its gateway asks another fan-out by now: its connection leaves right after the answer.
    fileprivate(set) var leavesAfter = false
    /// Its connection has left: it is refused.
    fileprivate(set) var isAbandoned = false
    /// Its gateway is gone: it needs no answer, unless the gateway comes back and asks again.
    fileprivate(set) var isForgotten = false
    var replay = Replay.notAsked

    /// - Parameter granted: the session that it was answered with before, if it comes again.
    init(_ join: Join, granted: GrantedSession? = nil, from gateway: GatewayID, at now: Instant, limits: FanoutLimits) {
        self.join = join
        self.session = granted.map(Session.granted) ?? .unknown
        self.gateway = gateway
        self.arrivedAt = now
        self.expiresAt = now + limits.joinDeadline
    }

    /// True when nobody is to be let in with it.
    var isOver: Bool { self.isAbandoned || self.isForgotten }

    /// The session that it claims, until that is granted.
    var claimedSession: Identifier? { if case .claiming(let sid) = self.session { sid } else { nil } }

    /// The session that is its connection's; nil when a new one is issued.
    var granted: GrantedSession? { if case .granted(let session) = self.session { session } else { nil } }

    /// True when a room at `seq` may answer it, which is proven to have everything as of a moment.
    func isReady(at seq: UInt64, in history: DatabaseHistory, provenAt: Instant?) -> Bool {
        let isProven = provenAt.map { $0 >= self.arrivedAt } ?? false
        guard isProven || self.seenNumber(in: history) <= seq else { return false }
        switch self.session {
        case .unknown, .claiming: return false
        case .new, .granted: return true
        }
    }

    /// The number that its app has seen: its gateway has shown it, or the app resumes there.
    private func seenNumber(in history: DatabaseHistory) -> UInt64 {
        guard let resume = self.join.resume, history.isResumable(resume) else { return self.join.after }
        return max(self.join.after, resume.seq)
    }

    /// Looks at the session that it came with. Returns false when the secret was not issued for this room and user.
    mutating func identify(by issuer: SessionIssuer) -> Bool {
        if self.join.session.isEmpty {
            self.session = .new
            return true
        }
        guard let sid = issuer.verify(self.join.session, self.join.room, self.join.member.user) else { return false }
        self.session = .claiming(sid: sid)
        return true
    }

    /// Returns false when the session is another user's, or gone.
    mutating func claimAnswered(_ outcome: ClaimOutcome) -> Bool {
        guard case .claiming(let sid) = self.session, case .granted(let sessionEpoch, let number) = outcome else {
            return false
        }
        self.session = .granted(
            GrantedSession(sid: sid, secret: self.join.session, sessionEpoch: sessionEpoch, number: number))
        return true
    }
}

/// The joins that wait, of all rooms, by tag. One that is sent twice waits once.
struct PendingJoins: Sendable {
    private struct Key: Hashable, Sendable {
        let gateway: GatewayID
        let request: UInt64
    }

    private var joins: [UInt64: PendingJoin] = [:]
    private var tags: [Key: UInt64] = [:]
    private var lastTag: UInt64 = 0

    var count: Int { self.joins.count }
    /// The tags of all joins, in the order in which they came.
    var allTags: [UInt64] { self.joins.keys.sorted() }

    func tags(from gateway: GatewayID) -> [UInt64] {
        self.joins.filter { $0.value.gateway == gateway }.keys.sorted()
    }

    subscript(tag: UInt64) -> PendingJoin? {
        get { self.joins[tag] }
        _modify { yield &self.joins[tag] }
    }

    /// Adds a join and returns its tag; nil for one that waits already. That one keeps its place in line, and its gateway
    /// asks this fan-out again.
    mutating func enqueue(_ pending: PendingJoin) -> UInt64? {
        let key = Key(gateway: pending.gateway, request: pending.join.request)
        if let tag = self.tags[key] {
            self.joins[tag]?.leavesAfter = false
            self.joins[tag]?.isForgotten = false
            return nil
        }
        self.lastTag += 1
        self.tags[key] = self.lastTag
        self.joins[self.lastTag] = pending
        return self.lastTag
    }

    /// Removes and returns a join that is answered, refused or forgotten.
    mutating func remove(_ tag: UInt64) -> PendingJoin? {
        guard let pending = self.joins.removeValue(forKey: tag) else { return nil }
        self.tags.removeValue(forKey: Key(gateway: pending.gateway, request: pending.join.request))
        return pending
    }

    /// The connections of those joins among `tags` that came from a gateway leave after the answer.
    mutating func setLeaving(_ tags: [UInt64], from gateway: GatewayID) {
        for tag in tags where self.joins[tag]?.gateway == gateway { self.joins[tag]?.leavesAfter = true }
    }

    mutating func abandon(_ tag: UInt64) { self.joins[tag]?.isAbandoned = true }

    mutating func forget(_ tag: UInt64) { self.joins[tag]?.isForgotten = true }
}
