import Auth
import Timing
import Wire

/// Requests over HTTP. Each has a number, and its answer is a ``GatewayAction/http(request:status:json:)`` with that
/// number. Reads wait here for earlier ones of their user and for the fan-out, until their deadline; creations are
/// commits.
package struct HTTPRequests {
    /// A read without an answer.
    private struct Read {
        let user: Identifier
        /// The question to the room's fan-out.
        let question: GatewayAction
        var isUnderWay = false
    }

    private let limits: Limits
    private var numbers = RequestNumbers()
    private var reads: [UInt64: Read] = [:]
    /// The users of the reads that were answered and whose client has not read that.
    private var unread: [UInt64: Identifier] = [:]
    private var readers: ReadsByUser
    private var deadlines = DeadlineQueue<UInt64>()
    /// The rates of users.
    private var users: RateBudget<Identifier>
    /// Requests refused because their user sent too many.
    var overUserRateTotal: UInt64 { self.users.refusedTotal }
    /// Requests refused, and those among them that were refused as too many waited.
    private(set) var refusedTotal: UInt64 = 0, busyTotal: UInt64 = 0

    init(limits: Limits) {
        self.limits = limits
        self.readers = ReadsByUser(bound: limits.userReads, waitingBound: limits.userReadsWaiting)
        self.users = RateBudget(
            perSecond: limits.userRequestsPerSecond, burst: limits.userRequestBurst, maxKeys: 65_536, at: .start)
    }

    /// Counts a request, whatever it is for, against its user's rate.
    /// - Throws: when there are too many, with the time to wait.
    private mutating func start(as identity: Identity, at now: Instant) throws(Refusal) {
        guard let wait = self.users.spend(of: identity.member.user, at: now) else { return }
        self.users.countRefusal()
        throw Refusal(.rateLimited, "This user sends requests too fast.", retryAfterMs: wait)
    }

    /// How many reads wait for an answer.
    package var readCount: Int { self.reads.count }

    /// Asks the fan-out for a room.
    /// - Returns: the request's number.
    mutating func read(
        _ text: String, as identity: Identity, _ rooms: Rooms, at now: Instant, into actions: inout [GatewayAction]
    ) -> UInt64 {
        let request = self.numbers.next()
        do throws(Refusal) {
            try self.start(as: identity, at: now)
            let room = try Self.room(text, for: identity)
            let after = rooms.recentNumber(in: room)
            let question = GatewayAction.fanout(
                of: room, .read(RoomRead(request: request, room: room, after: after)))
            try self.begin(request, question, of: identity.member.user, at: now, into: &actions)
        } catch {
            self.refuse(request, error, into: &actions)
        }
        return request
    }

    /// Asks the fan-out for a page of a room's history, as the query's parameters say.
    /// - Returns: the request's number.
    mutating func readHistory(
        _ text: String, after: String?, limit: String?, as identity: Identity, at now: Instant,
        into actions: inout [GatewayAction]
    ) -> UInt64 {
        let request = self.numbers.next()
        do throws(Refusal) {
            try self.start(as: identity, at: now)
            let room = try Self.room(text, for: identity)
            let page = try HistoryParameters(after: after, limit: limit)
            let read = HistoryRead(request: request, room: room, after: page.after, limit: page.limit)
            let question = GatewayAction.fanout(of: room, .readHistory(read))
            try self.begin(request, question, of: identity.member.user, at: now, into: &actions)
        } catch {
            self.refuse(request, error, into: &actions)
        }
        return request
    }

    /// Creates elements, as a commit whose origin is the request.
    /// - Returns: the request's number.
    mutating func create(
        in room: String, _ body: [UInt8], session: Identifier, as identity: Identity, parent: TraceParent?,
        _ reader: inout EventReader, _ commits: inout Commits, at now: Instant, into actions: inout [GatewayAction]
    ) -> UInt64 {
        let request = self.numbers.next()
        do throws(Refusal) {
            try self.start(as: identity, at: now)
            try commits.create(
                in: room, body, session: session, as: identity, parent: parent, number: request, &reader, at: now,
                into: &actions)
        } catch {
            self.refuse(request, error, into: &actions)
        }
        return request
    }

    /// The room that a path names, if its token gives the right to see it.
    private static func room(_ text: String, for identity: Identity) throws(Refusal) -> Identifier {
        let room = try RoomID.parse(text)
        guard identity.may(.view, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to this room.", field: "roomId")
        }
        return room
    }

    /// A read waits for its answer from now on, unless too many do.
    private mutating func begin(
        _ request: UInt64, _ question: GatewayAction, of user: Identifier, at now: Instant,
        into actions: inout [GatewayAction]
    ) throws(Refusal) {
        do throws(Refusal) {
            guard self.reads.count < self.limits.readsWaiting else {
                throw Refusal(.busy, "Too many reads are waiting.", retryAfterMs: Limits.busyMs)
            }
            try self.readers.check(user)
        } catch {
            self.busyTotal += 1
            throw error
        }
        self.reads[request] = Read(user: user, question: question)
        self.deadlines.set(request, at: now + self.limits.deadline)
        if self.readers.mayBegin(by: user) {
            self.ask(request, into: &actions)
        } else {
            self.readers.wait(request, by: user)
        }
    }

    private mutating func ask(_ request: UInt64, into actions: inout [GatewayAction]) {
        guard let read = self.reads[request] else { return }
        self.readers.begin(by: read.user)
        self.reads[request]?.isUnderWay = true
        actions.append(read.question)
    }

    /// A read is about to be answered. False when there was none.
    private mutating func end(_ request: UInt64) -> Bool {
        guard let read = self.reads.removeValue(forKey: request) else { return false }
        if read.isUnderWay { self.unread[request] = read.user }
        return true
    }

    /// A client has read the answer to a read, or is gone: the next one of its user may begin.
    mutating func answerRead(_ request: UInt64, into actions: inout [GatewayAction]) {
        guard let user = self.unread.removeValue(forKey: request) else { return }
        self.readers.end(by: user)
        if let next = self.readers.next(by: user, where: { self.reads[$0] != nil }) { self.ask(next, into: &actions) }
    }

    /// The fan-out answered a read.
    mutating func readAnswered(_ state: RoomState, into actions: inout [GatewayAction]) {
        guard self.end(state.request) else { return }
        switch state.outcome {
        case .neverUsed:
            let refusal = Refusal(.notFound, "Nothing was ever done in this room.", field: "roomId")
            self.refuse(state.request, refusal, into: &actions)
        case .unavailable: self.refuse(state.request, .roomUnavailable, into: &actions)
        case .state(let position, let elements):
            let json = AnswerText.room(state.room, at: position, elements: elements)
            actions.append(.http(request: state.request, status: HTTPStatus.ok, json: json))
        }
    }

    /// The fan-out answered a read of a room's history.
    mutating func historyAnswered(_ reply: HistoryReply, into actions: inout [GatewayAction]) {
        guard self.end(reply.request) else { return }
        switch reply.outcome {
        case .failure(let refusal): self.refuse(reply.request, refusal, into: &actions)
        case .success(let page):
            actions.append(.http(request: reply.request, status: HTTPStatus.ok, json: AnswerText.history(page)))
        }
    }

    /// Time has passed: reads end at their deadlines.
    mutating func timeReached(_ now: Instant, into actions: inout [GatewayAction]) {
        while let request = self.deadlines.popDue(at: now) {
            if self.end(request) { self.refuse(request, .roomUnavailable, into: &actions) }
        }
    }

    /// Answers a request with a refusal.
    private mutating func refuse(_ request: UInt64, _ refusal: Refusal, into actions: inout [GatewayAction]) {
        self.refusedTotal += 1
        actions.append(.http(request: request, status: HTTPStatus.of(refusal), json: AnswerText.refused(refusal)))
    }
}
