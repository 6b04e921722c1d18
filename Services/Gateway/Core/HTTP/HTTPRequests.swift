import Auth
import Timing
import Wire

/// Requests over HTTP. Each has a number, and its answer is a ``GatewayAction/http(request:status:json:)`` with that
/// number. Reads wait here for earlier ones of their user and for the fan-out, until their deadline; what changes a room
/// goes to ``Commits``.
package struct HTTPRequests {
    private struct Read {
        let user: Identifier
        let room: Identifier
        /// The question to the room's fan-out.
        var question: FanoutRecord
        /// True when it is one of those of its user that are under way.
        var isUnderWay = false
        var isAsked = false
    }

    private let limits: GatewayLimits
    private var numbers: RequestNumbers
    private var reads: [UInt64: Read] = [:]
    /// The users of the reads that were answered and whose client has not read that.
    private var unread: [UInt64: Identifier] = [:]
    private var readers: ReadsByUser
    private var deadlines = DeadlineQueue<UInt64>()
    private var users: RateBudget<Identifier>
    package var overUserRateTotal: UInt64 { self.users.refusedTotal }
    /// Requests refused, and those among them that were refused as too many waited.
    private(set) var refusedTotal: UInt64 = 0, busyTotal: UInt64 = 0

    init(limits: GatewayLimits, seed: UInt64) {
        self.limits = limits
        self.numbers = RequestNumbers(seed: seed)
        self.readers = ReadsByUser(bound: limits.userReads, waitingBound: limits.userReadsWaiting)
        self.users = RateBudget(
            perSecond: limits.userRequestsPerSecond, burst: limits.userRequestBurst, maxKeys: 65_536)
    }

    /// Counts a request, whatever it is for, against its user's rate.
    /// - Throws: when there are too many, with the time to wait.
    mutating func start(as identity: Identity, at now: Instant) throws(Refusal) {
        guard let wait = self.users.spend(of: identity.member.user, at: now) else { return }
        self.users.countRefusal()
        throw Refusal(.rateLimited, "This user sends requests too fast.", retryAfterMs: wait)
    }

    package var readCount: Int { self.reads.count }

    /// A request came: asks the fan-out, or makes commits whose origin is the request.
    /// - Returns: the request's number.
    mutating func received(
        _ request: AppRequest, as identity: Identity, _ rooms: Rooms, _ reader: inout EventReader,
        _ commits: inout Commits, _ answers: inout AnswerBudget, at now: Instant, into actions: inout [GatewayAction]
    ) -> UInt64 {
        let number = self.numbers.next()
        do throws(Refusal) {
            try self.start(as: identity, at: now)
            switch request {
            case .room(let name):
                let room = try Self.room(name, for: identity)
                let read = RoomRead(
                    request: number, room: room, after: rooms.recent.number(in: room),
                    allowance: UInt32(clamping: self.limits.snapshotPart))
                try self.ask(.read(read), of: room, as: number, for: identity, &answers, at: now, into: &actions)
            case .history(let name, let after, let limit):
                let room = try Self.room(name, for: identity)
                let page = try HistoryParameters(after: after, limit: limit)
                let read = HistoryRead(request: number, room: room, after: page.after, limit: page.limit)
                try self.ask(.readHistory(read), of: room, as: number, for: identity, &answers, at: now, into: &actions)
            case .commits(let request):
                try commits.received(request, as: identity, number: number, &reader, at: now, into: &actions)
            }
        } catch {
            self.refuse(number, error, &answers, into: &actions)
        }
        return number
    }

    /// The room that a path names, if its token gives the right to see it.
    private static func room(_ text: String, for identity: Identity) throws(Refusal) -> Identifier {
        let room = try RoomID.parse(text)
        guard identity.may(.view, in: room) else { throw .mayNotView }
        return room
    }

    /// A read waits for its answer from now on, unless too many do.
    private mutating func ask(
        _ question: FanoutRecord, of room: Identifier, as request: UInt64, for identity: Identity,
        _ answers: inout AnswerBudget, at now: Instant, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let user = identity.member.user
        do throws(Refusal) {
            guard self.reads.count < self.limits.readsWaiting else {
                throw Refusal(.busy, "Too many reads are waiting.", retryAfterMs: GatewayLimits.busyMs)
            }
            try self.readers.check(user)
        } catch {
            self.busyTotal += 1
            throw error
        }
        self.reads[request] = Read(user: user, room: room, question: question)
        self.deadlines.set(request, at: now + self.limits.deadline)
        if self.readers.mayBegin(by: user) {
            self.begin(request, &answers, at: now, into: &actions)
        } else {
            self.readers.wait(request, by: user)
        }
    }

    private mutating func begin(
        _ request: UInt64, _ answers: inout AnswerBudget, at now: Instant, into actions: inout [GatewayAction]
    ) {
        guard let read = self.reads[request] else { return }
        self.readers.begin(by: read.user)
        self.reads[request]?.isUnderWay = true
        var bytes = 0
        if case .readHistory = read.question { bytes = HistoryPage.largest }
        self.ask(request, for: bytes, read.user, &answers, at: now, into: &actions)
    }

    /// Asks the fan-out when there is space for an answer of so many bytes.
    private mutating func ask(
        _ request: UInt64, for bytes: Int, _ user: Identifier, _ answers: inout AnswerBudget, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        if answers.ask(.read(request), for: bytes, by: .request(request), of: user, at: now) {
            self.admitted(request, into: &actions)
        }
    }

    /// There is space for the answer to a read.
    mutating func admitted(_ request: UInt64, into actions: inout [GatewayAction]) {
        guard let read = self.reads[request] else { return }
        self.reads[request]?.isAsked = true
        actions.append(.fanout(of: read.room, read.question))
    }

    /// The fan-out says what the answer to a read would weigh, and has forgotten the read.
    mutating func weightReceived(
        _ weight: AnswerWeight, _ answers: inout AnswerBudget, at now: Instant, into actions: inout [GatewayAction]
    ) {
        guard let known = self.reads[weight.request], known.isAsked, case .read(var read) = known.question else {
            return
        }
        guard let allowance = answers.weighed(.read(weight.request), weight, allowed: read.allowance) else {
            return self.admitted(weight.request, into: &actions)
        }
        read.allowance = allowance
        self.reads[weight.request]?.question = .read(read)
        self.reads[weight.request]?.isAsked = false
        self.ask(weight.request, for: Int(read.allowance), known.user, &answers, at: now, into: &actions)
    }

    /// A read is about to be answered. False when there was none.
    private mutating func end(_ request: UInt64) -> Bool {
        guard let read = self.reads.removeValue(forKey: request) else { return false }
        if read.isUnderWay { self.unread[request] = read.user }
        return true
    }

    /// Another fan-out serves these shards now, or the same one came back without memory: what was asked is asked again.
    func fanoutMoved(_ shards: Set<Int>, into actions: inout [GatewayAction]) {
        for (_, read) in self.reads.sorted(by: { $0.key < $1.key })
        where read.isAsked && shards.contains(Shard.of(room: read.room)) {
            actions.append(.fanout(of: read.room, read.question))
        }
    }

    /// A client has read the answer to a read, or is gone: the next one of its user may begin.
    mutating func answerRead(
        _ request: UInt64, _ answers: inout AnswerBudget, at now: Instant, into actions: inout [GatewayAction]
    ) {
        guard let user = self.unread.removeValue(forKey: request) else { return }
        answers.settle(.request(request), holding: 0, at: now)
        self.readers.end(by: user)
        if let next = self.readers.next(by: user, where: { self.reads[$0] != nil }) {
            self.begin(next, &answers, at: now, into: &actions)
        }
    }

    mutating func readAnswered(
        _ state: RoomState, _ answers: inout AnswerBudget, at now: Instant, into actions: inout [GatewayAction]
    ) {
        guard self.end(state.request) else { return }
        switch state.outcome {
        case .neverUsed:
            let refusal = Refusal(.notFound, "Nothing was ever done in this room.", field: "roomId")
            self.refuse(state.request, refusal, &answers, into: &actions)
        case .unavailable: self.refuse(state.request, .roomUnavailable, &answers, into: &actions)
        case .state(let position, let elements):
            let json = AnswerText.room(state.room, at: position, elements: elements)
            answers.made(json.count, for: .read(state.request), at: now)
            actions.append(.http(request: state.request, status: 200, json: json))
        }
    }

    mutating func historyAnswered(
        _ reply: HistoryReply, _ answers: inout AnswerBudget, at now: Instant, into actions: inout [GatewayAction]
    ) {
        guard self.end(reply.request) else { return }
        switch reply.outcome {
        case .failure(let refusal): self.refuse(reply.request, refusal, &answers, into: &actions)
        case .success(let page):
            let json = AnswerText.history(page)
            answers.made(json.count, for: .read(reply.request), at: now)
            actions.append(.http(request: reply.request, status: 200, json: json))
        }
    }

    /// Time has passed: reads end at their deadlines.
    mutating func timeReached(_ now: Instant, _ answers: inout AnswerBudget, into actions: inout [GatewayAction]) {
        while let request = self.deadlines.popDue(at: now) {
            if self.end(request) { self.refuse(request, .roomUnavailable, &answers, into: &actions) }
        }
    }

    private mutating func refuse(
        _ request: UInt64, _ refusal: Refusal, _ answers: inout AnswerBudget, into actions: inout [GatewayAction]
    ) {
        self.refusedTotal += 1
        answers.withdraw(.read(request))
        actions.append(.http(request: request, status: refusal.httpStatus, json: refusal.acknowledgementText))
    }
}
