internal import Timing
internal import Wire

/// A join on its way to an answer: it needs the room, the session and, with `resume`, perhaps a part of the log.
struct PendingJoin: Sendable {
    /// How far the session is.
    enum Session: Sendable, Equatable {
        /// Not looked at yet: nothing is known of the database.
        case unknown
        /// A new one is issued with the answer.
        case new
        /// The secret is good; whether the session is this connection's is asked.
        case claiming(sid: Identifier)
        /// It is this connection's.
        case claimed(sid: Identifier, claim: UInt32, number: UInt64)
    }

    /// How far the missed updates are.
    enum Replay: Sendable {
        case notAsked
        case asked
        /// What the log had, or nothing at all.
        case answered([Update])

        var rows: [Update]? { if case .answered(let rows) = self { rows } else { nil } }
    }

    let gateway: GatewayID
    let join: Join
    /// Until when it waits for the update that its gateway has acknowledged.
    let followsUntil: Instant
    /// The connection left before it was answered: it leaves right after the answer.
    var leavesAfter = false
    var session = Session.unknown
    var replay = Replay.notAsked

    /// True when a room at `seq` may answer it.
    func isReady(at seq: UInt64, _ now: Instant) -> Bool {
        guard self.join.after <= seq || now >= self.followsUntil else { return false }
        switch self.session {
        case .unknown, .claiming: return false
        case .new, .claimed: return true
        }
    }
}

/// The joins that wait, of all rooms. One that is sent twice waits once.
///
///     enqueue ──► session unknown ──identify──► new ──────────────────────► the room answers it: removed
///                                      ├──────► claiming ──► claimed ─────►
///                                      └──────► foreign: refused
struct PendingJoins: Sendable {
    /// What a join's session secret is.
    enum Identification: Equatable, Sendable {
        /// Not looked at: it was before, or the join is gone.
        case settled
        /// Absent: a new session is wanted.
        case new
        /// Good: the database is to give the session to this connection.
        case claiming
        /// Nothing that was issued for this room and user.
        case foreign
    }

    private struct Key: Hashable, Sendable {
        let gateway: GatewayID
        let request: UInt64
    }

    private var joins: [UInt64: PendingJoin] = [:]
    private var tags: [Key: UInt64] = [:]
    private var deadlines = DeadlineQueue<UInt64>()
    private var lastTag: UInt64 = 0

    var count: Int { self.joins.count }
    /// The tags of all joins, in the order in which they came.
    var allTags: [UInt64] { self.joins.keys.sorted() }
    /// When a join may have waited too long, ``Instant/never`` when none waits.
    var nextDeadline: Instant { self.deadlines.next }

    subscript(tag: UInt64) -> PendingJoin? {
        get { self.joins[tag] }
        _modify { yield &self.joins[tag] }
    }

    /// Adds a join and returns its tag. One that waits already keeps its place in line, and whatever made its
    /// connection leave meanwhile is over.
    mutating func enqueue(
        _ join: Join, from gateway: GatewayID, at now: Instant, limits: FanoutLimits
    ) -> UInt64? {
        let key = Key(gateway: gateway, request: join.request)
        if let tag = self.tags[key] {
            self.joins[tag]?.leavesAfter = false
            return nil
        }
        self.lastTag += 1
        self.tags[key] = self.lastTag
        self.joins[self.lastTag] = PendingJoin(
            gateway: gateway, join: join, followsUntil: now + limits.readPatience)
        self.deadlines.set(self.lastTag, at: now + limits.joinDeadline)
        return self.lastTag
    }

    /// Looks at the session that a join came with, once.
    mutating func identify(_ tag: UInt64, by issuer: SessionIssuer) -> Identification {
        guard let pending = self.joins[tag], pending.session == .unknown else { return .settled }
        let join = pending.join
        if join.session.isEmpty {
            self.joins[tag]?.session = .new
            return .new
        }
        guard let sid = issuer.verify(join.session, join.room, join.member.user) else { return .foreign }
        self.joins[tag]?.session = .claiming(sid: sid)
        return .claiming
    }

    /// Says of those joins among `tags` that match whether their connections leave after the answer.
    /// - Returns: true when there are any.
    @discardableResult
    mutating func setLeaving(
        _ leaves: Bool, of tags: [UInt64], from gateway: GatewayID, where matches: (_ connection: UInt64) -> Bool
    ) -> Bool {
        var isAny = false
        for tag in tags {
            guard let pending = self.joins[tag], pending.gateway == gateway, matches(pending.join.connection)
            else { continue }
            self.joins[tag]?.leavesAfter = leaves
            isAny = true
        }
        return isAny
    }

    /// Removes and returns a join that is answered, refused or forgotten.
    mutating func remove(_ tag: UInt64) -> PendingJoin? {
        guard let pending = self.joins.removeValue(forKey: tag) else { return nil }
        self.tags.removeValue(forKey: Key(gateway: pending.gateway, request: pending.join.request))
        return pending
    }

    /// The tag of the next join whose time is over, if it still waits.
    mutating func popExpired(at now: Instant) -> UInt64? {
        while let tag = self.deadlines.popDue(at: now) {
            if self.joins[tag] != nil { return tag }
        }
        return nil
    }
}
