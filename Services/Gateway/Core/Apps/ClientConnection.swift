import Auth
import Timing
import Wire

/// One app's connection: whose it is, its rooms, its rate limits and what waits for them.
struct ClientConnection {
    /// Unique over all gateways, never reused.
    let id: UInt64
    private(set) var identity: Identity
    /// The room of an app that named it at the handshake and never sent `room:join`; nil for any other. It gets the events
    /// of the 1.0 contract only.
    private(set) var onlyRoom: Identifier?
    /// What it gets of any room.
    let options: StreamOptions
    private(set) var memberships = Memberships()
    /// How often its app may ask for something.
    var rates: ConnectionRates
    /// What its new tokens may cost.
    var admission: AdmissionLimit
    /// Its rate of commits, and those that wait.
    var commits: CommitQueue
    private var tokenWarning = TokenWarning()
    private var waitingBytes = 0
    /// True once it is about to be closed: no more commits are accepted.
    private var isLeaving = false

    /// Bytes of events that may wait for joins.
    static let maxWaitingBytes = 1 << 20

    init(id: UInt64, identity: Identity, handshake: HandshakeFields, limits: GatewayLimits) {
        self.id = id
        self.identity = identity
        self.onlyRoom = handshake.room
        self.options = handshake.options
        self.rates = ConnectionRates(limits: limits)
        self.admission = AdmissionLimit(limits: limits)
        self.commits = CommitQueue(limits: limits)
    }

    /// True for an app that gets the events of the 1.0 contract only.
    var isV1: Bool { self.onlyRoom != nil }

    var kind: ReaderKind { self.identity.member.isHidden ? .subscriber : self.isV1 ? .v1App : .app }

    /// Whether it gets what moves elements of a room; the 1.0 contract knows nothing of it.
    func wantsMotion(in room: Identifier) -> Bool {
        if self.isV1 { return false }
        let index = self.memberships.index(of: room)
        return index.map { self.memberships.entries[$0].options.motion } ?? self.options.motion
    }

    /// It is about to be closed: no more commits are accepted.
    /// - Returns: those that wait for their turn, which are not sent any more.
    mutating func startLeaving() -> [AcceptedCommit] {
        self.isLeaving = true
        return self.commits.removeAll()
    }

    /// Refuses a viewport of a room that the app has not joined, or one too many: each may show the app all that moves.
    mutating func spendViewport(in room: Identifier, at now: Instant) throws(Refusal) {
        guard self.memberships.contains(room) else { throw .notJoined }
        try self.rates.viewports.spend(at: now, orRefuse: "Viewports are set too often.")
    }

    // MARK: Joining and leaving

    /// The request of the join of a room that is in flight; nil when there is none.
    mutating func join(of room: Identifier) -> UInt64? {
        self.memberships.index(of: room).flatMap { self.memberships.entries[$0].join }
    }

    /// Refuses a join of a room that its user may not see, of one room too many, or one that comes too soon.
    mutating func checkJoin(of room: Identifier, maxRooms: Int, at now: Instant) throws(Refusal) {
        try self.rates.joins.spend(at: now, orRefuse: "Joins are too frequent.")
        guard self.identity.may(.view, in: room) else { throw .mayNotView }
        guard self.memberships.contains(room) || self.memberships.count < maxRooms else {
            throw Refusal(.tooLarge, "A connection may join \(maxRooms) rooms.", field: "roomId")
        }
    }

    /// Joins a room, for the first time or once more, while no other join of it is in flight.
    /// - Returns: as whom.
    mutating func startJoin(_ request: UInt64, of room: Identifier, options: StreamOptions, at now: Instant) -> Member {
        if !self.memberships.contains(room) {
            let user = self.identity.member.user
            self.memberships.insert(Membership(of: self.id, user, in: room, options: options, since: now), for: room)
        }
        if let index = self.memberships.index(of: room) { self.memberships.entries[index].startJoin(request) }
        return self.identity.member
    }

    /// An app that sends `room:join` speaks the full contract from then on, in every room.
    /// - Returns: the rooms whose members it is by now, with what it gets of them; none when it spoke it before.
    mutating func becomeModern() -> [(room: Identifier, options: StreamOptions)] {
        guard self.isV1 else { return [] }
        self.onlyRoom = nil
        return self.memberships.compactMap { $1.hasJoined ? ($0, $1.options) : nil }
    }

    /// Keeps an event until the join of its room is answered; false when too many wait.
    mutating func enqueue(_ json: [UInt8], ackID: UInt64?, isBinary: Bool = false, for room: Identifier) -> Bool {
        let bytes = self.waitingBytes + json.count
        guard bytes <= Self.maxWaitingBytes, let index = self.memberships.index(of: room),
            self.memberships.entries[index].waiting.append(json, ackID: ackID, isBinary: isBinary)
        else { return false }
        self.waitingBytes = bytes
        self.memberships.recount(index)
        return true
    }

    /// Keeps a cursor until the join of its room is answered, in place of an older one; false when too much waits.
    mutating func enqueue(cursor json: [UInt8], for room: Identifier) -> Bool {
        guard let index = self.memberships.index(of: room) else { return false }
        let former = self.memberships.entries[index].waiting.cursor?.count ?? 0
        let bytes = self.waitingBytes + json.count - former
        guard bytes <= Self.maxWaitingBytes else { return false }
        self.memberships.entries[index].waiting.replaceCursor(json)
        self.waitingBytes = bytes
        self.memberships.recount(index)
        return true
    }

    /// Keeps a preview until the join of its room is answered; false when those of too many elements wait.
    mutating func enqueue(_ move: Move, for room: Identifier) -> Bool {
        guard let index = self.memberships.index(of: room) else { return false }
        defer { self.memberships.recount(index) }
        return self.memberships.entries[index].waiting.append(move)
    }

    /// The join in flight was answered with the room: the app is a member.
    /// - Returns: the events that waited for it, in order.
    mutating func joined(_ room: Identifier, _ joined: JoinReply.Joined, options: StreamOptions) -> WaitingEvents {
        guard let index = self.memberships.index(of: room) else { return WaitingEvents() }
        self.memberships.entries[index].joined(joined, options: options)
        return self.endJoin(at: index)
    }

    /// The join in flight was refused. Unless an earlier one was answered with the room, there is no membership.
    /// - Returns: the events that waited for it, in order.
    mutating func joinFailed(_ room: Identifier) -> WaitingEvents {
        guard let index = self.memberships.index(of: room) else { return WaitingEvents() }
        guard self.memberships.entries[index].hasJoined else { return self.leave(room)?.waiting ?? WaitingEvents() }
        return self.endJoin(at: index)
    }

    /// The join of the membership at an index has its answer.
    /// - Returns: the events that waited for it, in order.
    private mutating func endJoin(at index: Int) -> WaitingEvents {
        let waiting = self.memberships.entries[index].endJoin()
        self.waitingBytes -= waiting.bytes
        self.memberships.recount(index)
        return waiting
    }

    mutating func leave(_ room: Identifier) -> Membership? {
        guard let membership = self.memberships.remove(room) else { return nil }
        self.waitingBytes -= membership.waiting.bytes
        return membership
    }

    // MARK: Tokens

    /// The app named a new token of the same user.
    /// - Returns: the rooms that it gives no right to.
    mutating func identityChanged(_ identity: Identity) -> [Identifier] {
        self.identity = identity
        self.tokenWarning = TokenWarning()
        return self.memberships.rooms.filter { !identity.may(.view, in: $0) }
    }

    /// Tells a room that its user is shown by another name or colour than at its join.
    func renamed(in room: Identifier) -> GatewayAction {
        .fanout(of: room, .memberRenamed(MemberRenamed(room: room, connection: self.id, member: self.identity.member)))
    }

    /// See ``TokenWarning/secondsLeft(of:at:)``.
    mutating func tokenSecondsLeft(at seconds: Int64) -> Int64? {
        self.tokenWarning.secondsLeft(of: self.identity, at: seconds)
    }
}

// Every event comes through here, commits twice. A connection and a membership contain a dozen references; to read one
// field of an optional one copies them all. So questions, too, are mutating functions, which run where the value stands.
extension ClientConnection {
    /// About the bytes that are kept for it in its rooms. Its commits count among those in flight.
    mutating func heldBytes() -> Int { self.memberships.heldBytes }

    // MARK: Commits

    /// Whether its user may commit.
    /// - Throws: when the app has not joined the room.
    mutating func mayCommit(in room: Identifier) throws(Refusal) -> Bool {
        guard self.memberships.contains(room) else { throw .notJoined }
        return self.identity.may(.commit, in: room)
    }

    /// The stream that the app numbers and this connection's session epoch, if a commit of that number may be in flight.
    /// - Throws: while the session has another owner.
    mutating func stream(
        in room: Identifier, ifSent number: UInt64
    ) throws(Refusal) -> (session: Identifier, sessionEpoch: UInt32)? {
        guard let index = self.memberships.index(of: room) else { throw .notJoined }
        guard let session = try self.memberships.entries[index].stream(ifSent: number) else { return nil }
        return (session, self.memberships.entries[index].sessionEpoch)
    }

    /// Refuses a commit that cannot be accepted now. One that the app numbered does not wait.
    mutating func checkTurn(in room: Identifier, isNumbered: Bool, limits: GatewayLimits) throws(Refusal) {
        if self.isLeaving { throw .stops }
        let isFull =
            isNumbered
            ? self.commits.underWay(in: room) >= limits.unacknowledged
            : self.commits.count >= limits.waitingCommits
        if isFull {
            throw Refusal(.busy, "Too many commits of this session have no result yet.", retryAfterMs: 200)
        }
        if isNumbered, self.commits.contains(room) {
            throw Refusal(.busy, "Commits without a number wait for their turn in this room.", retryAfterMs: 200)
        }
    }

    /// Accepts a checked commit. One that the app numbered is sent or refused; another one may have to wait, for earlier ones
    /// of the room or for a rate, unless its user owes more than the time that it may wait.
    /// - Parameters:
    ///   - gateway: to which its result goes.
    ///   - users: the rates of users.
    /// - Throws: when a rate is too high, with the time to wait.
    mutating func accept(
        _ draft: CommitDraft, number: UInt64?, from origin: EventOrigin, in room: Identifier, gateway: Identifier,
        limits: GatewayLimits, _ users: inout RateBudget<Identifier>, at now: Instant
    ) throws(Refusal) -> CommitStep {
        guard let index = self.memberships.index(of: room) else { throw .notJoined }
        if let number { try self.memberships.entries[index].requireNoGap(before: number) }
        let user = self.identity.member.user
        var waits = number == nil && (self.commits.contains(room) || self.commits.isBlocked(room))
        if !waits, let delay = self.commits.spend(draft.read.edit, of: user, &users, at: now) {
            if let number {
                if delay.isOfUser { users.countRefusal() }
                self.memberships.entries[index].rateRefused(number)
                throw delay.refusal
            }
            waits = true
        }
        if waits, let debt = users.debt(of: user, at: now), debt > limits.deadline.milliseconds {
            users.countRefusal()
            throw .userCommitsTooFast(retryAfterMs: debt)
        }
        // What follows belongs to the next gesture, however long the commit itself has to wait.
        let ended = self.memberships.entries[index].closeGestures(draft.gesture, on: draft.read.gestureElements)
        self.memberships.recount(index)
        var commit = Commit(
            room: room, session: self.memberships.entries[index].stream(of: number),
            sessionEpoch: self.memberships.entries[index].sessionEpoch, number: number ?? 0,
            user: user, connection: self.id, gateway: gateway, gestures: ended, edit: draft.read.edit,
            trace: draft.trace)
        if waits {
            self.commits.append(AcceptedCommit(commit: commit, origin: origin, acceptedAt: now))
            return .waits(commit)
        }
        self.commits.send(&commit)
        return .goes(commit)
    }

    /// A commit has its result, or never will have one here. True when a preview waited for it that may go now.
    /// - Parameter seq: the number that it got; nil when it was not applied.
    mutating func settle(_ commit: Commit, seq: UInt64?) -> Bool {
        self.commits.settle(in: commit.room)
        return self.settleTracks(of: commit, seq: seq)
    }

    /// The previews that waited for a commit may go. True when there are some.
    mutating func settleTracks(of commit: Commit, seq: UInt64?) -> Bool {
        guard let index = self.memberships.index(of: commit.room) else { return false }
        return self.memberships.entries[index].settle(commit, seq: seq)
    }

    /// Ends the gesture under way on an element without a commit; nil when there is none, and when too many ended in this
    /// way: then it goes on.
    mutating func abandonGesture(on element: Identifier, in room: Identifier, at now: Instant) -> GestureEnd? {
        guard let index = self.memberships.index(of: room),
            self.memberships.entries[index].elements[element]?.openGesture != nil, self.rates.ends.spend(at: now),
            let end = self.memberships.entries[index].abandonGesture(on: element)
        else { return nil }
        self.memberships.recount(index)
        return end
    }

    // MARK: Signals

    /// What the app tells the others in a room, if its rights and rates allow it.
    mutating func signal(
        _ event: IncomingEvent, in room: Identifier, _ users: inout RateBudget<Identifier>
    ) throws(Refusal) -> RoomSignal {
        try self.checkPreview(in: room)
        let (name, data) = try EventReader.signal(event.payload)
        guard let index = self.memberships.index(of: room) else { throw .notJoined }
        let sid = try self.memberships.entries[index].ownSession()
        let user = self.identity.member.user
        try self.commits.spendSignal(of: user, &users, at: event.now)
        return RoomSignal(room: room, connection: self.id, user: user, sid: sid, name: name, data: data)
    }

    // MARK: Previews

    /// Refuses a preview that its user may not show.
    mutating func checkPreview(in room: Identifier) throws(Refusal) {
        guard self.memberships.contains(room) else { throw .notJoined }
        guard let right = self.identity.right(in: room), right >= .preview else {
            throw Refusal(.forbidden, "The token gives no right to show previews in this room.", field: "roomId")
        }
    }

    /// Stamps what the app shows with its gesture, and folds it onto what is held back.
    mutating func stamp(_ move: Move, in room: Identifier, at now: Instant) throws(Refusal) -> PreviewStep {
        guard let index = self.memberships.index(of: room) else { return .ignored }
        guard self.memberships.hasSpace(for: move.element, at: index) else { return .dropped }
        defer { self.memberships.recount(index) }
        return self.noted(
            try self.memberships.entries[index].stamp(move, isAllowed: self.rates.previews.spend(at: now)))
    }

    /// Stamps what the app shows of a group, which came in one message: all of it may go, or none.
    mutating func stamp(_ group: [Move], in room: Identifier, at now: Instant) throws(Refusal) -> [PreviewStep] {
        guard let index = self.memberships.index(of: room) else { return [] }
        let isAllowed = self.rates.previews.spend(at: now)
        let gesture = self.memberships.entries[index].groupGesture(group)
        return try group.map { move throws(Refusal) in
            guard self.memberships.hasSpace(for: move.element, at: index) else { return .dropped }
            defer { self.memberships.recount(index) }
            return self.noted(try self.memberships.entries[index].stamp(move.numbered(gesture), isAllowed: isAllowed))
        }
    }

    /// Notes that something waits for the rate: what comes after it must not overtake it.
    private mutating func noted(_ step: PreviewStep) -> PreviewStep {
        if case .waitsForRate = step { self.rates.previews.isExceeded = true }
        return step
    }

    /// The app shows something else of its person.
    /// - Returns: what may be sent on now; nil: it waits for the rate limit.
    mutating func show(_ value: AwarenessValue, in room: Identifier, at now: Instant) throws(Refusal) -> Awareness? {
        guard let index = self.memberships.index(of: room) else { throw .notJoined }
        if case .selection(let selection) = value { try self.memberships.checkSelection(selection, at: index) }
        // It is kept even if it is refused, as the session has another owner.
        defer { self.memberships.recount(index) }
        let awareness = try self.memberships.entries[index].show(
            value, at: now, isAllowed: self.rates.previews.spend(at: now))
        if awareness == nil { self.rates.previews.isExceeded = true }
        return awareness
    }

    /// What others should see of the app's person; nil when it is not in the room.
    func awareness(in room: Identifier) -> ShownAwareness? {
        self.memberships.index(of: room).map { self.memberships.entries[$0].shownAwareness }
    }

    /// The session epoch under which it owns its session in a room; 0 when it is not there.
    func sessionEpoch(in room: Identifier) -> UInt32 {
        self.memberships.index(of: room).map { self.memberships.entries[$0].sessionEpoch } ?? 0
    }

    /// True while its viewport is shown to others, or is about to be.
    mutating func sharesViewport(in room: Identifier) -> Bool {
        self.memberships.index(of: room).map { self.memberships.entries[$0].sharesViewport } ?? false
    }

    mutating func holdsAwareness(in room: Identifier) -> Bool {
        self.memberships.index(of: room).map { self.memberships.entries[$0].holdsAwareness } ?? false
    }

    /// Releases the previews and the awareness that were held back, as far as they may go by now. Rooms in which some
    /// wait go by turns, beginning where it ended the last time.
    /// - Returns: true when some must go on waiting for the rate limit.
    mutating func releasePreviews(at now: Instant, into released: inout ReleasedPreviews) -> Bool {
        self.rates.previews.isExceeded = false
        while let index = self.memberships.nextWaiting() {
            guard self.rates.previews.spendForNext(at: now) else {
                self.rates.previews.isExceeded = true
                return true
            }
            self.memberships.entries[index].releaseNext(at: now, into: &released)
            self.memberships.recount(index)
            self.memberships.endTurn(at: index)
        }
        return false
    }

    // MARK: Sessions

    /// A fan-out raised the claim of the app's session once more, as its join came there twice.
    mutating func sessionRenewed(_ joined: JoinReply.Joined, in room: Identifier) {
        guard let index = self.memberships.index(of: room) else { return }
        self.memberships.entries[index].sessionRenewed(joined)
        self.memberships.recount(index)
    }

    /// A session has a newer owner: if it was this connection's, it is not any more.
    mutating func sessionClaimed(_ claimed: SessionClaimed) {
        guard let index = self.memberships.index(of: claimed.room) else { return }
        self.memberships.entries[index].sessionClaimed(claimed)
    }
}

extension Refusal {
    static var mayNotView: Refusal {
        Refusal(.forbidden, "The token gives no right to this room.", field: "roomId")
    }

    static var notJoined: Refusal {
        Refusal(.forbidden, "The connection has not joined this room.", field: "roomId")
    }
}
