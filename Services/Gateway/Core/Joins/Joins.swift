import DequeModule
import Timing
import Wire

/// A join that waits for the fan-out's answer.
struct JoinInFlight {
    let origin: EventOrigin
    fileprivate(set) var record: Join
    let options: StreamOptions
    let wantsParts: Bool
    /// When its app is answered that the room cannot be read.
    let deadline: Instant
    /// True when it is one of those of its user that are under way.
    fileprivate(set) var hasBegun = false
    /// When it was last sent; nil while it waits for its turn.
    fileprivate(set) var sentAt: Instant?
    /// True when nobody waits for its answer any more.
    fileprivate(set) var isAbandoned = false
    /// The session that a former fan-out has claimed for it, and that claim.
    fileprivate var claimed: (sid: Identifier, sessionEpoch: UInt32)?

    var user: Identifier { self.record.member.user }
    var slot: Slot { self.origin.slot }
    var room: Identifier { self.record.room }
    /// The connection's id, since slots are reused.
    var connection: UInt64 { self.record.connection }
}

/// The joins that have no answer yet.
///
///     queued ──its turn, by rate──► sent ──answered──► ended
///      │  ▲                         │  ▲ └──a second without an answer, or another fan-out──┐
///      ▼  │                         │  └────────────────────────────────────────────────────┘
///     held: its user has enough     └──deadline──► ended
///     under way
///
/// A sent join whose answer would be a large one is held again, until there is space for it (``AnswerBudget``).
///
/// When all apps come back together, fan-outs and the database get their joins at a rate. A join that is abandoned once
/// it was sent stays until its answer is here, since that costs as much as any.
package struct Joins {
    private let limits: GatewayLimits
    private var numbers: RequestNumbers
    private var pending: [UInt64: JoinInFlight] = [:]
    private var abandonedCount = 0
    /// Requests that wait for their turn, in order; one that ended meanwhile is stale.
    private var queue: Deque<UInt64> = []
    private var rate: RateMeter
    private var readers: ReadsByUser
    /// The gestures of each user that ended as a connection left: each end goes to everybody in the room.
    private var ends = RateBudget<Identifier>(perSecond: 256, burst: 4096)
    /// The answers on their way to apps, those over HTTP too.
    package internal(set) var answers: AnswerBudget
    private(set) var busyTotal: UInt64 = 0

    /// A join without an answer is sent again after that.
    private static let repetition = Nanoseconds.seconds(1)

    init(limits: GatewayLimits, seed: UInt64) {
        self.limits = limits
        self.numbers = RequestNumbers(seed: seed)
        self.rate = RateMeter(perSecond: limits.joinsPerSecond)
        self.readers = ReadsByUser(bound: limits.userReads, waitingBound: limits.userReadsWaiting)
        self.answers = AnswerBudget(bound: limits.answerBytes, userBound: limits.userAnswerBytes)
    }

    package var count: Int { self.pending.count - self.abandonedCount }

    /// True when there is none, and none that was abandoned.
    var isEmpty: Bool { self.pending.isEmpty }

    /// How many of them wait for their turn.
    package var queuedCount: Int { self.queue.count + self.answers.waitingCount }

    mutating func requireCapacity(for user: Identifier?) throws(Refusal) {
        do throws(Refusal) {
            guard self.pending.count < self.limits.joinsWaiting else {
                throw Refusal(.busy, "Too many joins are waiting.", retryAfterMs: GatewayLimits.busyMs)
            }
            if let user { try self.readers.check(user) }
        } catch {
            self.busyTotal += 1
            throw error
        }
    }

    /// Gestures of a user have ended because a connection left.
    mutating func gesturesEnded(_ count: Int, of user: Identifier, at now: Instant) {
        if count > 0 { self.ends.charge(count, of: user, at: now) }
    }

    /// Refuses a join of a user whose connections have left too many open gestures behind, until the rate allows it.
    private mutating func requireEnds(of user: Identifier, at now: Instant) throws(Refusal) {
        guard let wait = self.ends.debt(of: user, at: now) else { return }
        throw Refusal(
            .rateLimited, "Too many gestures of this user ended as it left.", field: "roomId", retryAfterMs: wait)
    }

    /// Adds a join; it is sent when its turn has come.
    private mutating func enqueue(_ record: Join, _ request: JoinRequest, from origin: EventOrigin, at now: Instant) {
        self.pending[record.request] = JoinInFlight(
            origin: origin, record: record, options: request.options, wantsParts: request.wantsParts,
            deadline: now + self.limits.deadline)
        self.queue.append(record.request)
    }

    /// Removes and returns the next join whose turn has come; nil when the rate allows none, or none waits.
    private mutating func nextInTurn(at now: Instant) -> JoinInFlight? {
        while let request = self.queue.first {
            guard let join = self.pending[request] else {
                self.queue.removeFirst()
                continue
            }
            guard self.readers.mayBegin(by: join.user) else {
                self.readers.wait(request, by: join.user)
                self.queue.removeFirst()
                continue
            }
            guard self.rate.spend(at: now) else { return nil }
            self.readers.begin(by: join.user)
            self.pending[request]?.hasBegun = true
            self.queue.removeFirst()
            if self.mayAsk(for: join, bytes: 0, at: now) { return join }
        }
        return nil
    }

    /// Whether a join may be sent whose answer weighs that much; ``AnswerBudget/admit(at:)`` returns it later, if not.
    private mutating func mayAsk(for join: JoinInFlight, bytes: Int, at now: Instant) -> Bool {
        self.answers.ask(.join(join.record.request), for: bytes, by: .app(join.connection), of: join.user, at: now)
    }

    /// Removes a join, and lets the next one of its user have its turn.
    @discardableResult
    private mutating func remove(_ request: UInt64) -> JoinInFlight? {
        guard let join = self.pending.removeValue(forKey: request) else { return nil }
        if join.isAbandoned { self.abandonedCount -= 1 }
        if join.hasBegun { self.readers.end(by: join.user) }
        self.answers.withdraw(.join(request))
        // One that goes before it was sent may have been the next to begin.
        if let next = self.readers.next(by: join.user, where: { self.pending[$0] != nil }) { self.queue.prepend(next) }
        return join
    }

    /// Nobody waits for a join's answer any more: its connection is gone, or has lost the right to the room.
    /// - Returns: the join; nil when there was none.
    @discardableResult
    mutating func abandon(_ request: UInt64) -> JoinInFlight? {
        guard let join = self.pending[request], !join.isAbandoned else { return nil }
        if join.sentAt == nil { return self.remove(request) }
        self.pending[request]?.isAbandoned = true
        self.abandonedCount += 1
        return join
    }
}

/// What comes of joins: connections become members of rooms, or not.
extension Joins {
    /// Events of an app that waited for a join, to be handled now.
    struct Released {
        let slot: Slot
        let room: Identifier
        let events: WaitingEvents
    }

    // MARK: From apps

    mutating func received(
        _ event: IncomingEvent, room: Identifier, _ relay: inout Relay, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let slot = event.slot
        let request = try JoinRequest(
            event.payload, options: relay.connections.bySlot[slot]?.options ?? StreamOptions())
        try relay.connections.bySlot[slot]?.checkJoin(of: room, maxRooms: self.limits.rooms, at: event.now)
        let user = relay.connections.bySlot[slot]?.identity.member.user
        if let user { try self.requireEnds(of: user, at: event.now) }
        try self.requireCapacity(for: user)
        for (room, options) in relay.connections.bySlot[slot]?.becomeModern() ?? [] {
            relay.rooms.becomeModern(slot, in: room, options: options)
        }
        self.start(request, of: room, from: event.origin, &relay, at: event.now, into: &actions)
    }

    mutating func start(
        _ request: JoinRequest, of room: Identifier, from origin: EventOrigin, _ relay: inout Relay, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        let number = self.numbers.next()
        let member = relay.connections.bySlot[origin.slot]?
            .startJoin(number, of: room, options: request.options, at: now)
        guard let member else { return }
        let record = Join(
            request: number, room: room, connection: relay.connections.id(in: origin.slot), member: member,
            session: request.session, resume: request.resume, allowance: UInt32(clamping: self.limits.snapshotPart))
        self.enqueue(record, request, from: origin, at: now)
        self.sendQueued(&relay, at: now, into: &actions)
    }

    // MARK: Sending

    mutating func sendQueued(_ relay: inout Relay, at now: Instant, into actions: inout [GatewayAction]) {
        while let join = self.nextInTurn(at: now) { self.send(join, &relay, at: now, into: &actions) }
    }

    /// Sends a join to its room's fan-out, for the first time or again.
    private mutating func send(
        _ join: JoinInFlight, _ relay: inout Relay, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.pending[join.record.request]?.sentAt = now
        var record = join.record
        record.after = relay.rooms.recent.number(in: join.room)
        actions.append(.fanout(of: join.room, .join(record)))
    }

    /// There is space for the answer to a join by now.
    mutating func admitted(
        _ request: UInt64, _ relay: inout Relay, at now: Instant, into actions: inout [GatewayAction]
    ) {
        if let join = self.pending[request] { self.send(join, &relay, at: now, into: &actions) }
    }

    /// Another fan-out serves these shards now: it gets the joins that the former one has not answered.
    mutating func fanoutMoved(
        _ shards: Set<Int>, _ relay: inout Relay, at now: Instant, into actions: inout [GatewayAction]
    ) {
        for join in self.inOrder({ $0.sentAt != nil && shards.contains(Shard.of(room: $0.room)) }) {
            if join.isAbandoned {
                self.remove(join.record.request)
            } else {
                self.send(join, &relay, at: now, into: &actions)
            }
        }
    }

    /// Joins in flight, in the order in which they came: of two that claim one session the later one is to own it.
    private func inOrder(_ isWanted: (JoinInFlight) -> Bool) -> [JoinInFlight] {
        self.pending.values.filter(isWanted).sorted { $0.record.request < $1.record.request }
    }

    /// Time has passed: joins without an answer are sent again, and end at their deadlines.
    mutating func timeReached(_ now: Instant, _ relay: inout Relay, into actions: inout [GatewayAction]) -> [Released] {
        self.sendQueued(&relay, at: now, into: &actions)
        var released: [Released] = []
        let isDue = { (join: JoinInFlight) in
            now >= join.deadline || join.sentAt.map { now >= $0 + Self.repetition } ?? false
        }
        for join in self.inOrder(isDue) {
            if join.isAbandoned {
                if now >= join.deadline { self.remove(join.record.request) }
            } else if now < join.deadline {
                self.send(join, &relay, at: now, into: &actions)
            } else {
                released.append(self.fail(join, .roomUnavailable, &relay, into: &actions))
            }
        }
        return released
    }

    // MARK: Answers

    mutating func answerReceived(
        _ reply: JoinReply, _ relay: inout Relay, at now: Instant, seconds: Double, into actions: inout [GatewayAction]
    ) -> Released? {
        defer { self.sendQueued(&relay, at: now, into: &actions) }
        guard let join = self.pending[reply.request], !join.isAbandoned else {
            self.remove(reply.request)
            self.answeredAgain(reply, &relay, into: &actions)
            return nil
        }
        switch reply.outcome {
        case .failure(let refusal):
            return self.fail(join, refusal, &relay, into: &actions)
        case .success(let joined) where relay.rooms.streams.isAhead(of: joined.position, in: join.room):
            // An answer from behind the stream: another fan-out serves the room by now.
            self.send(join, &relay, at: now, into: &actions)
            return nil
        case .success(let joined):
            return self.finish(join, joined, &relay, at: now, seconds: seconds, into: &actions)
        }
    }

    /// The fan-out says what the answer to a join would weigh, and has forgotten the join.
    mutating func weightReceived(
        _ weight: AnswerWeight, _ relay: inout Relay, at now: Instant, into actions: inout [GatewayAction]
    ) {
        guard let join = self.pending[weight.request], join.sentAt != nil else { return }
        if join.isAbandoned {
            self.remove(weight.request)
            return self.sendQueued(&relay, at: now, into: &actions)
        }
        guard let allowance = self.answers.weighed(.join(weight.request), weight, allowed: join.record.allowance) else {
            return self.send(join, &relay, at: now, into: &actions)
        }
        self.pending[weight.request]?.record.allowance = allowance
        self.pending[weight.request]?.sentAt = nil
        if self.mayAsk(for: join, bytes: Int(allowance), at: now) {
            self.admitted(weight.request, &relay, at: now, into: &actions)
        }
    }

    /// A fan-out that does not serve the room any more answered a join. It cannot know who has moved to the one that does,
    /// which was sent the join, too, and will answer it. But it may have raised the session's claim.
    mutating func formerFanoutAnswered(_ reply: JoinReply, _ relay: inout Relay, into actions: inout [GatewayAction]) {
        guard self.pending[reply.request] != nil else {
            return self.answeredAgain(reply, &relay, into: &actions)
        }
        if case .success(let joined) = reply.outcome {
            self.pending[reply.request]?.claimed = (joined.sid, joined.sessionEpoch)
        }
    }

    /// An answer that nobody waits for: the join was sent again, perhaps to another fan-out than the one that answered
    /// first. The room's stream goes on from this answer's position, which members here may not have reached; and the
    /// answer raised the session's claim for the same connection, which goes on with it.
    private func answeredAgain(_ reply: JoinReply, _ relay: inout Relay, into actions: inout [GatewayAction]) {
        guard case .success(let joined) = reply.outcome else { return }
        guard let slot = relay.connections.slot(of: reply.connection),
            relay.rooms.streams.contains(slot, in: reply.room)
        else {
            return relay.rooms.catchUp(reply.room, to: joined.position, relay.connections, into: &actions)
        }
        // Who came between the two answers, and what they show, was sent to nobody here.
        relay.rooms.catchUp(reply.room, to: nil, relay.connections, into: &actions)
        relay.connections.bySlot[slot]?.sessionRenewed(joined, in: reply.room)
    }

    private mutating func finish(
        _ join: JoinInFlight, _ joined: JoinReply.Joined, _ relay: inout Relay,
        at now: Instant, seconds: Double, into actions: inout [GatewayAction]
    ) -> Released {
        var joined = relay.rooms.completed(joined, in: join.room)
        let kind = relay.connections.bySlot[join.slot]?.kind ?? .app
        if kind == .v1App || !join.options.motion { joined.content = joined.content.still }
        let welcome = Welcome(
            identity: relay.connections.bySlot[join.slot]?.identity ?? Identity(member: join.record.member),
            throttle: relay.rooms.pacer.requestedInterval(in: join.room), time: seconds * 1000)
        let answer =
            kind == .subscriber
            ? self.opening(of: join, joined, at: now) : self.answer(to: join, joined, welcome, at: now)
        var isInParts = false
        if case .snapshot(_, let snapshot)? = answer { isInParts = !snapshot.parts.isEmpty }
        if relay.rooms.streams.isLoading(join.slot, in: join.room) {
            // Parts of an earlier answer must not follow this one.
            actions.append(.dropSnapshot(join.slot, room: join.room))
        }
        self.remove(join.record.request)
        if let claimed = join.claimed, claimed.sid == joined.sid {
            joined.sessionEpoch = max(joined.sessionEpoch, claimed.sessionEpoch)
        }
        let events = relay.connections.bySlot[join.slot]?.joined(join.room, joined, options: join.options)
        relay.rooms.enter(
            join.slot, join.room, at: joined.position, as: kind, options: join.options, isLoading: isInParts,
            relay.connections, at: now, into: &actions)
        if let answer { actions.append(answer) }
        relay.rooms.answerShown(joined, to: join.slot, in: join.room, into: &actions)
        relay.connections.joined(join.room, join.slot)
        if welcome.identity.member != join.record.member, let connection = relay.connections.bySlot[join.slot] {
            actions.append(connection.renamed(in: join.room))
        }
        return Released(slot: join.slot, room: join.room, events: events ?? WaitingEvents())
    }

    /// With what a subscriber's stream begins.
    private mutating func opening(of join: JoinInFlight, _ joined: JoinReply.Joined, at now: Instant) -> GatewayAction {
        let text = EventStreamText.opening(joined, of: join.room)
        self.answers.made(text.count, for: .join(join.record.request), at: now)
        return .opening(join.slot, text: text)
    }

    /// What answers a join; nil when its app asked for no answer.
    private mutating func answer(
        to join: JoinInFlight, _ joined: JoinReply.Joined, _ welcome: Welcome, at now: Instant
    ) -> GatewayAction? {
        guard let ackID = join.origin.ackID else { return nil }
        var parts = SnapshotParts(in: join.room)
        var isLarge = false
        if case .elements(let elements) = joined.content, elements.count > self.limits.snapshotPart {
            isLarge = true
            if join.wantsParts { parts = SnapshotParts(of: elements, in: join.room, limit: self.limits.snapshotPart) }
        }
        var json = AnswerText.joined(
            joined, room: join.room, welcome, limits: self.limits, parts: parts.count, inArray: isLarge)
        self.answers.made(json.count + parts.bytes, for: .join(join.record.request), at: now)
        if !isLarge {
            guard json.count > self.limits.snapshotPart else {
                return .acknowledge(join.slot, id: ackID, json: json)
            }
            // What was missed, or what the members have selected, is more than may wait for an app that reads.
            json = [UInt8(ascii: "[")] + json + [UInt8(ascii: "]")]
        }
        return .snapshot(join.slot, Snapshot(room: join.room, ackID: ackID, arguments: json, parts: parts))
    }

    /// A join in flight has ended without the room, as its app has lost the right to it.
    mutating func refuse(
        _ request: UInt64, _ refusal: Refusal, _ relay: inout Relay, into actions: inout [GatewayAction]
    ) {
        guard let join = self.abandon(request) else { return }
        relay.connections.refuse(refusal, join.origin, room: join.room, into: &actions)
    }

    private mutating func fail(
        _ join: JoinInFlight, _ refusal: Refusal, _ relay: inout Relay, into actions: inout [GatewayAction]
    ) -> Released {
        self.remove(join.record.request)
        relay.connections.refuse(refusal, join.origin, room: join.room, into: &actions)
        let events = relay.connections.bySlot[join.slot]?.joinFailed(join.room)
        // An app of the 1.0 contract cannot ask again: it does by connecting again.
        if refusal.code.isRetriable, relay.connections.bySlot[join.slot]?.isV1 == true {
            actions.append(.close(join.slot))
        }
        if relay.connections.bySlot[join.slot]?.memberships.contains(join.room) == false {
            // Another fan-out that was asked too, or the same one later, may let it in all the same.
            actions.append(.fanout(of: join.room, .leave(Leave(room: join.room, connection: join.connection))))
        }
        return Released(slot: join.slot, room: join.room, events: events ?? WaitingEvents())
    }
}

extension Refusal {
    static var roomUnavailable: Refusal {
        Refusal(.unavailable, "The room cannot be read at the moment.", retryAfterMs: 1000)
    }
}
