import Auth
import DequeModule
import Timing
import Wire

/// One app's connection: whose it is, its rooms, its rate limits and what waits for them.
struct ClientConnection {
    /// Unique over all gateways, never reused.
    let id: UInt64
    private(set) var identity: Identity
    /// True for an app that named its room at the handshake and never sent `room:join`: it gets the events of the 1.0
    /// contract only.
    private(set) var isLegacy: Bool
    /// False when it wants no previews in any room.
    let wantsPreviews: Bool
    private(set) var memberships = Memberships()
    private var previewLimit: TokenBucket
    private var commitLimit: TokenBucket
    /// Commits without a number that wait for the rate limit, in order.
    private(set) var delayed: Deque<AcceptedCommit> = []
    /// When a refusal of a preview was last reported, by code.
    private var reportedAt: [RefusalCode: Instant] = [:]
    /// True once the app was warned that its token ends soon.
    private var wasWarned = false
    /// Bytes of the events that wait for joins.
    private var waitingBytes = 0
    /// True once it is about to be closed: no more commits are accepted.
    private var isLeaving = false

    /// Bytes of events that may wait for joins.
    static let maxWaitingBytes = 1 << 20
    /// Refusals of previews with the same code are reported no more often than that.
    private static let reportPause = Nanoseconds.seconds(1)
    /// So long before its token ends an app is warned, s.
    private static let warning: Int64 = 30

    init(id: UInt64, identity: Identity, handshake: HandshakeFields, limits: Limits, at now: Instant) {
        self.id = id
        self.identity = identity
        self.isLegacy = handshake.room != nil
        self.wantsPreviews = handshake.previews
        self.previewLimit = TokenBucket(
            capacity: limits.previewsPerSecond, perSecond: limits.previewsPerSecond, now: now)
        self.commitLimit = TokenBucket(capacity: limits.commitBurst, perSecond: limits.commitsPerSecond, now: now)
    }

    /// True while a commit of it has no result.
    var owesResults: Bool {
        !self.delayed.isEmpty || self.memberships.entries.contains { $0.unacknowledged > 0 }
    }

    /// It is about to be closed: no more commits are accepted.
    mutating func startLeaving() { self.isLeaving = true }

    // MARK: Joining and leaving

    /// True while the first join of the room is in flight.
    mutating func isJoining(_ room: Identifier) -> Bool {
        self.memberships.index(of: room).map { self.memberships.entries[$0].isJoining } ?? false
    }

    /// Refuses a join of a room that its user may not see, or of one room too many.
    mutating func checkJoin(of room: Identifier, maxRooms: Int) throws(Refusal) {
        guard self.identity.may(.view, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to this room.", field: "roomId")
        }
        guard self.memberships.contains(room) || self.memberships.count < maxRooms else {
            throw Refusal(.tooLarge, "A connection may join \(maxRooms) rooms.", field: "roomId")
        }
    }

    /// Joins a room, for the first time or once more.
    /// - Returns: as whom.
    mutating func startJoin(of room: Identifier, wantsPreviews: Bool) -> Member {
        if !self.memberships.contains(room) {
            self.memberships.insert(Membership(wantsPreviews: wantsPreviews), for: room)
        }
        return self.identity.member
    }

    /// An app that sends `room:join` speaks the full contract from then on, in every room.
    /// - Returns: the rooms whose members it is by now, with its wish for previews; none when it spoke it before.
    mutating func becomeModern() -> [(room: Identifier, wantsPreviews: Bool)] {
        guard self.isLegacy else { return [] }
        self.isLegacy = false
        return self.memberships.compactMap { $1.isJoining ? nil : ($0, $1.wantsPreviews) }
    }

    /// Keeps an event until the room's first join is answered; false when too many wait.
    mutating func enqueue(_ event: Membership.WaitingEvent, for room: Identifier) -> Bool {
        let bytes = self.waitingBytes + event.json.count
        guard bytes <= Self.maxWaitingBytes, let index = self.memberships.index(of: room),
            self.memberships.entries[index].enqueue(event)
        else { return false }
        self.waitingBytes = bytes
        return true
    }

    /// A join was answered: the app is a member.
    /// - Returns: the events that waited for it, in order.
    mutating func joined(
        _ room: Identifier, _ joined: JoinReply.Joined, wantsPreviews: Bool
    ) -> [Membership.WaitingEvent] {
        guard let index = self.memberships.index(of: room) else { return [] }
        let waiting = self.memberships.entries[index].finishJoin(joined, wantsPreviews: wantsPreviews)
        self.forget(waiting)
        return waiting
    }

    /// A join was refused. If it was the room's first one, there is no membership.
    /// - Returns: the events that waited for it, in order; nil when the app is a member all the same.
    mutating func joinFailed(_ room: Identifier) -> [Membership.WaitingEvent]? {
        self.isJoining(room) ? self.leave(room)?.waiting : nil
    }

    /// Leaves a room; nil when it was not in it.
    mutating func leave(_ room: Identifier) -> Membership? {
        guard let membership = self.memberships.remove(room) else { return nil }
        self.forget(membership.waiting)
        return membership
    }

    private mutating func forget(_ waiting: [Membership.WaitingEvent]) {
        self.waitingBytes -= waiting.reduce(0) { $0 + $1.json.count }
    }

    // MARK: Tokens

    /// The app named a new token of the same user.
    /// - Returns: the rooms that it gives no right to.
    mutating func identityChanged(_ identity: Identity) -> [Identifier] {
        self.identity = identity
        self.wasWarned = false
        return self.memberships.rooms.filter { !identity.may(.view, in: $0) }
    }

    /// How many seconds are left of the token, 0 when it has ended; nil when there is nothing to warn of, or no more.
    /// - Parameter seconds: the time since 1970.
    mutating func tokenWarning(at seconds: Int64) -> Int64? {
        guard let expiresAt = self.identity.expiresAt, seconds + Self.warning >= expiresAt else { return nil }
        if seconds >= expiresAt { return 0 }
        defer { self.wasWarned = true }
        return self.wasWarned ? nil : expiresAt - seconds
    }
}

// Every event comes through here, commits twice. A connection and a membership contain a dozen references; to read one
// field of an optional one copies them all. So questions, too, are mutating functions, which run where the value stands.
extension ClientConnection {
    // MARK: Commits

    /// What becomes of a commit.
    enum CommitStep {
        /// It has its number and is sent.
        case goes(Commit)
        /// It waits for the rate limit; its weight in bytes.
        case waits(weight: Int)
        /// It is refused: the app keeps its number and sends it again.
        case tooFast(retryAfterMs: UInt32)
    }

    /// Refuses a commit that its user may not make.
    mutating func checkCommit(in room: Identifier) throws(Refusal) {
        guard self.memberships.contains(room) else { throw .notJoined }
        guard self.identity.may(.commit, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to change this room.", field: "roomId")
        }
    }

    /// Refuses a commit that cannot be accepted now.
    /// - Parameter bound: how many may be without a result.
    mutating func checkTurn(in room: Identifier, isNumbered: Bool, bound: Int) throws(Refusal) {
        if let index = self.memberships.index(of: room) {
            try self.memberships.entries[index].checkTurn(isNumbered: isNumbered, bound: bound - self.delayed.count)
        }
        guard !self.isLeaving else {
            throw Refusal(.unavailable, "This gateway is about to stop; connect again.", retryAfterMs: 100)
        }
    }

    /// Accepts a checked commit: numbers it, or lets it wait for the rate limit when the app gave no number.
    /// - Parameter gateway: to which its result goes.
    /// - Returns: nil when the app is not in the room.
    mutating func accept(
        _ draft: CommitDraft, number: UInt64?, from origin: EventOrigin, in room: Identifier, gateway: Identifier,
        at now: Instant
    ) -> CommitStep? {
        let mayGo = self.delayed.isEmpty && self.commitLimit.spend(at: now)
        if number != nil, !mayGo { return .tooFast(retryAfterMs: self.commitLimit.waitMs(at: now)) }
        // What follows belongs to the next gesture, however long the commit itself has to wait.
        guard let index = self.memberships.index(of: room) else { return nil }
        let ended = self.memberships.entries[index].closeGestures(draft.gesture, on: draft.read.gestureElements)
        let accepted = AcceptedCommit(room: room, origin: origin, edit: draft.read.edit, gestures: ended)
        if mayGo { return self.commit(accepted, number: number, gateway: gateway).map { .goes($0) } }
        self.delayed.append(accepted)
        return .waits(weight: accepted.edit.weight)
    }

    /// The next commit that has waited for the rate limit, if it may go now.
    mutating func nextDelayed(at now: Instant) -> AcceptedCommit? {
        guard !self.delayed.isEmpty, self.commitLimit.spend(at: now) else { return nil }
        return self.delayed.removeFirst()
    }

    /// An accepted commit under its number, counted as one without a result; nil when the app is not in the room.
    /// - Parameter number: the app's; nil: the next one in the gateway's own stream.
    mutating func commit(_ accepted: AcceptedCommit, number: UInt64?, gateway: Identifier) -> Commit? {
        guard let index = self.memberships.index(of: accepted.room) else { return nil }
        let (stream, claim, next) = self.memberships.entries[index].nextNumber(number)
        return Commit(
            room: accepted.room, session: stream, claim: claim, number: next,
            isNumberedByApp: number != nil, user: self.identity.member.user, connection: self.id, gateway: gateway,
            gestures: accepted.gestures, edit: accepted.edit)
    }

    /// A commit has its result, or never will have one here. True when a preview waited for it that may go now.
    /// - Parameter seq: the number that it got; nil when it was not applied.
    mutating func settle(_ commit: Commit, seq: UInt64?) -> Bool {
        guard let index = self.memberships.index(of: commit.room) else { return false }
        return self.memberships.entries[index].settle(commit, seq: seq)
    }

    /// Ends the gesture under way on an element without a commit; nil when there is none.
    mutating func abandonGesture(on element: Identifier, in room: Identifier) -> GestureEnd? {
        guard let index = self.memberships.index(of: room),
            let (sid, gesture) = self.memberships.entries[index].abandonGesture(on: element)
        else { return nil }
        return GestureEnd(room: room, element: element, user: self.identity.member.user, sid: sid, gesture: gesture)
    }

    // MARK: Previews

    /// Refuses a preview that its user may not show.
    mutating func checkPreview(in room: Identifier) throws(Refusal) {
        guard self.memberships.contains(room) else { throw .notJoined }
        guard self.identity.may(.preview, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to show previews in this room.", field: "roomId")
        }
    }

    /// Stamps what the app shows with its gesture, and folds it onto what is held back.
    mutating func stamp(_ move: Move, in room: Identifier, at now: Instant) -> PreviewStep {
        let mover = (connection: self.id, user: self.identity.member.user)
        guard let index = self.memberships.index(of: room) else { return .ignored }
        return self.memberships.entries[index].stamp(
            move, in: room, by: mover, limit: &self.previewLimit, at: now)
    }

    /// Releases the previews that were held back, as far as they may go by now.
    /// - Returns: true when some must go on waiting for the rate limit.
    mutating func releasePreviews(at now: Instant, into released: inout [Preview]) -> Bool {
        var isStillHolding = false
        for index in self.memberships.entries.indices
        where self.memberships.entries[index].releasePreviews(limit: &self.previewLimit, at: now, into: &released) {
            isStillHolding = true
        }
        return isStillHolding
    }

    /// Whether a refused preview is reported now; its app did not ask for an answer, and may send very many.
    mutating func reports(_ code: RefusalCode, at now: Instant) -> Bool {
        if let last = self.reportedAt[code], now < last + Self.reportPause { return false }
        self.reportedAt[code] = now
        return true
    }

    // MARK: Sessions

    /// A fan-out raised the claim of the app's session once more, as its join came there twice.
    mutating func sessionRenewed(_ joined: JoinReply.Joined, in room: Identifier) {
        guard let index = self.memberships.index(of: room) else { return }
        self.memberships.entries[index].sessionRenewed(joined)
    }

    /// A session has a newer owner: if it was this connection's, it is not any more.
    mutating func sessionClaimed(_ claimed: SessionClaimed) {
        guard let index = self.memberships.index(of: claimed.room) else { return }
        self.memberships.entries[index].sessionClaimed(claimed)
    }
}

/// A checked commit of an app, before it has a number.
struct AcceptedCommit {
    let room: Identifier
    let origin: EventOrigin
    let edit: EncodedEdit
    /// The gestures that it ended when it came.
    let gestures: ShortList<EndedGesture>
}

extension Refusal {
    static var notJoined: Refusal {
        Refusal(.forbidden, "The connection has not joined this room.", field: "roomId")
    }
}
