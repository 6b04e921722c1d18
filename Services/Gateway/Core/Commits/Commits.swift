import Auth
import JSONBytes
package import Timing
import Wire

/// Commits, from the event to the answer.
///
///     event ──► read, checked ──► turn, rate ──► in flight ──► result, or the deadline ──► answer
///                  │   │           └ waits, without a number of the app's
///                  │   └──► refused
///                  └──► copy of one in flight ──► waits for its result
package struct Commits {
    package var inFlight: InFlightCommits
    /// Commits that connections left behind, and whose they were: accepted, and sent in their turn.
    private var leftBehind: [(connection: UInt64, identity: Identity, queue: CommitQueue)] = []
    package private(set) var acknowledgedTotal: UInt64 = 0
    /// How long commits took from their acceptance to their results, to a millisecond.
    package private(set) var latency = LatencyTally()
    package private(set) var traces: TraceSampler
    /// The rates of users, over all their connections and HTTP.
    private var users: RateBudget<Identifier>
    private var requests: OpenCommitRequests
    package var overUserRateTotal: UInt64 { self.users.refusedTotal }
    private let gateway: Identifier
    private let limits: GatewayLimits
    /// How many elements count like one more commit.
    private static let elementsForOne = 20
    /// Deletions of full rooms and their undos count for little until their results tell: a burst of them may write 3 GB of
    /// log, which are eleven minutes of a user's rate.
    private static let longestDebt = Nanoseconds.seconds(900)

    /// - Parameters:
    ///   - gateway: its mesh name, which commits carry so that results find back.
    ///   - seed: of the choice of traced commits.
    init(gateway: Identifier, limits: GatewayLimits, seed: UInt64) {
        self.gateway = gateway
        self.limits = limits
        self.inFlight = InFlightCommits(limits: limits)
        self.requests = OpenCommitRequests(resultBytes: limits.messageBytes)
        self.traces = TraceSampler(limits: limits, seed: seed)
        self.users = RateBudget(
            perSecond: limits.userCommits.perSecond, burst: limits.userCommits.burst, maxKeys: 65_536,
            longestDebt: Self.longestDebt)
    }

    /// `room:signal`: what it tells the others counts for the rates of commits.
    mutating func signalReceived(
        _ event: IncomingEvent, room: Identifier, _ connections: inout Connections, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        guard let signal = try connections.bySlot[event.slot]?.signal(event, in: room, &self.users) else { return }
        actions.append(.fanout(of: room, .signal(signal)))
        connections.acknowledge(event, into: &actions)
    }

    // MARK: From apps

    /// An app wants something to last.
    mutating func received(
        _ event: IncomingEvent, _ kind: EditKind, room: Identifier, _ reader: inout EventReader,
        _ connections: inout Connections, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let slot = event.slot
        let isAllowed = try connections.bySlot[slot]?.mayCommit(in: room) ?? false
        let number = try EventReader.number(event.payload)
        if let number, try self.isCopy(event, kind, of: number, in: room, isAllowed, &reader, &connections) { return }
        try connections.bySlot[slot]?.checkTurn(in: room, isNumbered: number != nil, limits: self.limits)
        try self.inFlight.requireCapacity(
            for: event.payload.rawBytes.count, of: connections.bySlot[slot]?.identity.member.user)
        var draft = Self.draft(event, kind, isAllowed: isAllowed, &reader)
        for element in draft.abandoned {
            let gesture = connections.bySlot[slot]?.abandonGesture(on: element, in: room, at: event.now)
            guard let gesture else { continue }
            actions.append(.gestureEnd(gesture))
        }
        if let fault = draft.fault, number == nil { throw fault }
        draft.trace = self.traces.next(draft.parent, at: event.now)
        let step = try connections.bySlot[slot]?.accept(
            draft, number: number, from: event.origin, in: room, gateway: self.gateway, limits: self.limits,
            &self.users, at: event.now)
        switch step {
        case .goes(let commit):
            Self.markAccepted(commit, by: kind.traits.event, into: &actions)
            self.keep(
                AcceptedCommit(commit: commit, origin: event.origin, acceptedAt: event.now), &connections,
                at: event.now, into: &actions)
        case .waits(let commit):
            Self.markAccepted(commit, by: kind.traits.event, into: &actions)
            self.inFlight.reserve(commit)
            connections.startsWaiting(slot)
        case nil: break
        }
    }

    private static func markAccepted(_ commit: Commit, by event: String?, into actions: inout [GatewayAction]) {
        guard let trace = commit.trace else { return }
        actions.append(.traced(TraceMark(trace, .accepted, commit, [.event: event ?? ""])))
    }

    /// Reads a commit. One without the right to it uses up its number, too.
    private static func draft(
        _ event: IncomingEvent, _ kind: EditKind, isAllowed: Bool, _ reader: inout EventReader
    ) -> CommitDraft {
        let draft = reader.commit(kind, event)
        if isAllowed { return draft }
        return draft.refused(.mayNotCommit, abandoning: kind.gestureElements(in: event.payload))
    }

    /// Lets a copy of a commit in flight wait for that one's result.
    /// - Returns: false when it is to be sent: a new number, or a copy of what an older owner of the session sent.
    private mutating func isCopy(
        _ event: IncomingEvent, _ kind: EditKind, of number: UInt64, in room: Identifier, _ isAllowed: Bool,
        _ reader: inout EventReader, _ connections: inout Connections
    ) throws(Refusal) -> Bool {
        let stream = try connections.bySlot[event.slot]?.stream(in: room, ifSent: number) ?? nil
        guard let (session, sessionEpoch) = stream else { return false }
        let key = InFlightKey(room: room, session: session, number: number)
        guard let pending = self.inFlight[key] else { return false }
        let known = pending.commit
        let draft = Self.draft(event, kind, isAllowed: isAllowed, &reader)
        let origin = InFlightCommit.Origin.app(event.origin, connection: connections.id(in: event.slot))
        if known.sessionEpoch >= sessionEpoch || known.edit.bodyHash != draft.read.edit.bodyHash {
            try self.inFlight.addCopy(key, bodyHash: draft.read.edit.bodyHash, from: origin)
            return true
        }
        // It replaces that one, and whoever waits for it waits on.
        try pending.requireCapacity()
        return false
    }

    /// Accepts a commit, which sends it.
    private mutating func keep(
        _ accepted: AcceptedCommit, _ connections: inout Connections, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        let origin = InFlightCommit.Origin.app(accepted.origin, connection: accepted.commit.connection)
        let older = self.inFlight.accept(accepted.commit, from: origin, at: now, into: &actions)
        if let older {
            // Its elements have counted already, and are the same.
            connections.settle(older, seq: nil)
        } else {
            self.charge(Self.knownCost(accepted.commit.edit), accepted.commit, from: origin, &connections, at: now)
        }
    }

    /// Sends the commits of a connection that have waited, as far as they may go.
    mutating func releaseWaiting(
        of slot: Slot, _ connections: inout Connections, at now: Instant, into actions: inout [GatewayAction]
    ) {
        while let next = connections.bySlot[slot]?.commits.next(&self.users, at: now) {
            self.inFlight.unreserve(next.commit)
            self.keep(next, &connections, at: now, into: &actions)
        }
    }

    /// A connection is gone. What it had accepted is sent all the same.
    mutating func leaveBehind(_ connection: ClientConnection) {
        guard !connection.commits.isEmpty else { return }
        self.leftBehind.append((connection.id, connection.identity, connection.commits))
    }

    /// Commits that waited for their turn are not sent any more: their apps are refused, and their gestures end.
    mutating func drop(
        _ commits: [AcceptedCommit], _ refusal: Refusal, _ connections: inout Connections,
        into actions: inout [GatewayAction]
    ) {
        for dropped in commits {
            self.inFlight.unreserve(dropped.commit)
            let origin = InFlightCommit.Origin.app(dropped.origin, connection: dropped.commit.connection)
            self.answer(
                origin, dropped.commit, seq: nil, refusal: refusal, json: refusal.acknowledgementText, &connections,
                into: &actions)
            connections.dropped(dropped)
            for gesture in dropped.commit.gestureEnds() { actions.append(.gestureEnd(gesture)) }
        }
    }

    /// Tokens are not valid any more: what connections left behind that are gone is not sent.
    mutating func dropLeftBehind(
        unless isAdmitted: (Identity) -> Bool, _ connections: inout Connections, into actions: inout [GatewayAction]
    ) {
        for index in self.leftBehind.indices where !isAdmitted(self.leftBehind[index].identity) {
            self.drop(self.leftBehind[index].queue.removeAll(), .tokenNotValid, &connections, into: &actions)
        }
        self.leftBehind.removeAll { $0.queue.isEmpty }
    }

    /// True while commits of connections that are gone wait to be sent.
    var hasLeftBehind: Bool { !self.leftBehind.isEmpty }

    private mutating func sendLeftBehind(
        _ connections: inout Connections, at now: Instant, into actions: inout [GatewayAction]
    ) {
        for index in self.leftBehind.indices {
            while let next = self.leftBehind[index].queue.next(&self.users, at: now) {
                self.inFlight.unreserve(next.commit)
                self.keep(next, &connections, at: now, into: &actions)
                self.leftBehind[index].queue.charge(Self.knownCost(next.commit.edit), at: now)
            }
        }
        self.leftBehind.removeAll { $0.queue.isEmpty }
    }

    // MARK: From HTTP

    /// A back end wants a room changed.
    /// - Parameter request: the number under which it is answered.
    /// - Throws: a refusal of the whole request.
    mutating func received(
        _ body: CommitRequest, as identity: Identity, number request: UInt64, _ reader: inout EventReader,
        at now: Instant, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let room = try RoomID.parse(body.room)
        guard identity.may(.commit, in: room) else { throw .mayNotCommit }
        try self.inFlight.requireCapacity(for: body.body.count, of: identity.member.user)
        let read = try reader.edits(of: body, in: room)
        let commits = read.edits.enumerated().map { index, edit in
            edit.map { edit in
                Commit(
                    room: room, session: body.session, sessionEpoch: 1, number: UInt64(index + 1),
                    user: identity.member.user, connection: 0, gateway: self.gateway, gestures: [], edit: edit)
            }
        }
        try self.requests.begin(
            request, of: body.session, in: room, parent: body.parent, answer: read.answer, commits)
        for case .success(let commit) in commits { self.inFlight.reserve(commit) }
        self.sendNext(of: request, at: now, into: &actions)
    }

    /// Sends the next commit of a request over HTTP, or answers it when there is none, or when this one is refused.
    private mutating func sendNext(of request: UInt64, at now: Instant, into actions: inout [GatewayAction]) {
        guard let (step, parent) = self.requests.next(of: request) else { return self.end(request, into: &actions) }
        do throws(Refusal) {
            var commit = try step.get()
            self.inFlight.unreserve(commit)
            if let wait = self.users.spend(commit.edit.rateCost, of: commit.user, at: now) {
                self.users.countRefusal()
                throw .userCommitsTooFast(retryAfterMs: wait)
            }
            self.users.charge(Self.knownCost(commit.edit), of: commit.user, at: now)
            commit.trace = self.traces.next(parent, at: now)
            Self.markAccepted(commit, by: allEdits.kind(ofTag: commit.edit.tag)?.traits.event, into: &actions)
            _ = self.inFlight.accept(commit, from: .http(request), at: now, into: &actions)
        } catch {
            self.requests.resultReceived(
                of: request, seq: nil, refusal: error, json: error.acknowledgementText)
            self.end(request, into: &actions)
        }
    }

    private mutating func end(_ request: UInt64, into actions: inout [GatewayAction]) {
        guard let ended = self.requests.end(request) else { return }
        for commit in ended.unsent { self.inFlight.unreserve(commit) }
        actions.append(.http(request: request, status: ended.status, json: ended.json))
    }

    // MARK: Rates

    /// What an edit counts for beside the commit itself as soon as it is sent: the elements that it names. Otherwise a user
    /// could have hundreds of large groups under way before the first result. It is owed, so that a group may go whenever
    /// another commit may, however small the bursts.
    private static func knownCost(_ edit: EncodedEdit) -> Int { edit.groupSize / Self.elementsForOne }

    /// What an edit cost beyond that. Only its result tells: a deletion includes annotations, an undo is whatever it takes
    /// back, and the log has long texts. Less than nothing for a repetition, and for what is to be sent again: these changed
    /// nothing.
    private static func restOfCost(of edit: EncodedEdit, _ result: CommitResult) -> Int {
        let rest = Int(result.elements) / Self.elementsForOne - Self.knownCost(edit)
        let isFinallyRefused = result.refusal.map { !$0.code.isRetriable } ?? false
        return isFinallyRefused ? max(0, rest) : rest
    }

    /// Counts more than the commit itself against the rates of its connection and its user.
    private mutating func charge(
        _ cost: Int, _ commit: Commit, from origin: InFlightCommit.Origin, _ connections: inout Connections,
        at now: Instant
    ) {
        guard cost != 0 else { return }
        self.users.charge(cost, of: commit.user, at: now)
        if case .app(let origin, let connection) = origin, connections.contains(connection, in: origin.slot) {
            connections.bySlot[origin.slot]?.commits.charge(cost, at: now)
        }
    }

    // MARK: Results

    mutating func resultReceived(
        _ result: CommitResult, _ connections: inout Connections, _ rooms: inout Rooms, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        guard let pending = self.inFlight.resultReceived(result, at: now) else { return }
        self.latency.note(now.elapsed(since: pending.acceptedAt))
        let seq = result.refusal == nil ? result.seq : nil
        if let seq { rooms.recent.note(seq, in: pending.commit.room) }
        let rest = Self.restOfCost(of: pending.commit.edit, result)
        self.charge(rest, pending.commit, from: pending.origin, &connections, at: now)
        self.answer(pending, seq: seq, refusal: result.refusal, json: result.json, &connections, into: &actions)
        self.settle(pending, seq: seq, &connections, at: now, into: &actions)
        guard let refusal = result.refusal else { return }
        if refusal.code == .sessionExpired, case .app(let origin, let connection) = pending.origin,
            connections.isV1(connection, in: origin.slot)
        {
            // It cannot join again: it does by connecting again.
            actions.append(.close(origin.slot))
        }
        guard !refusal.code.isRetriable else { return }
        for gesture in pending.commit.gestureEnds() { actions.append(.gestureEnd(gesture)) }
    }

    /// A commit is no longer in flight: others of its connection may go.
    private mutating func settle(
        _ pending: InFlightCommit, seq: UInt64?, _ connections: inout Connections, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        switch pending.origin {
        case .http(let request): self.sendNext(of: request, at: now, into: &actions)
        case .app(let origin, let connection):
            if connections.settle(pending, seq: seq) {
                guard connections.hasWaiting(origin.slot) else { return }
                self.releaseWaiting(of: origin.slot, &connections, at: now, into: &actions)
            } else if let index = self.leftBehind.firstIndex(where: { $0.connection == connection }) {
                self.leftBehind[index].queue.settle(in: pending.commit.room)
            }
        }
    }

    /// Answers every event that waits for a commit's result.
    private mutating func answer(
        _ pending: InFlightCommit, seq: UInt64?, refusal: Refusal?, json: [UInt8], _ connections: inout Connections,
        into actions: inout [GatewayAction]
    ) {
        if let trace = pending.commit.trace {
            let outcome = refusal.map { [TraceFact.refusal: $0.code.name] } ?? [:]
            actions.append(.traced(TraceMark(trace, .acknowledged, pending.commit, outcome)))
        }
        self.answer(
            pending.origin, pending.commit, seq: seq, refusal: refusal, json: json, &connections, into: &actions)
        for copy in pending.copies {
            self.answer(copy, pending.commit, seq: seq, refusal: refusal, json: json, &connections, into: &actions)
        }
    }

    private mutating func answer(
        _ origin: InFlightCommit.Origin, _ commit: Commit, seq: UInt64?, refusal: Refusal?, json: [UInt8],
        _ connections: inout Connections, into actions: inout [GatewayAction]
    ) {
        switch origin {
        case .app(let origin, let connection):
            guard connections.contains(connection, in: origin.slot) else { return }
            if refusal == nil { self.acknowledgedTotal += 1 }
            if let ackID = origin.ackID {
                let isStill = !connections.wantsMotion(origin.slot, in: commit.room)
                actions.append(
                    .acknowledge(origin.slot, id: ackID, json: isStill ? StillText.acknowledgement(json) : json))
            } else if let refusal {
                connections.refuse(
                    refusal, origin, room: commit.room, element: commit.edit.soleElement,
                    number: commit.isNumberedByApp ? commit.number : nil, into: &actions)
            }
        case .http(let request):
            self.acknowledgedTotal += refusal == nil ? 1 : 0
            self.requests.resultReceived(of: request, seq: seq, refusal: refusal, json: json)
        }
    }

    /// Time has passed: commits without a result are sent again, and those that have waited for too long are answered.
    mutating func timeReached(_ now: Instant, _ connections: inout Connections, into actions: inout [GatewayAction]) {
        for index in self.leftBehind.indices {
            let late = self.leftBehind[index].queue.removeLate(after: self.limits.deadline, at: now)
            self.drop(late, .notSent, &connections, into: &actions)
        }
        self.sendLeftBehind(&connections, at: now, into: &actions)
        for slot in connections.restless {
            let late = connections.bySlot[slot]?.commits.removeLate(after: self.limits.deadline, at: now) ?? []
            self.drop(late, .notSent, &connections, into: &actions)
        }
        for key in self.inFlight.timeReached(now, into: &actions) {
            guard let pending = self.inFlight.end(key) else { continue }
            let json = Refusal.noResult.acknowledgementText
            self.answer(pending, seq: nil, refusal: .noResult, json: json, &connections, into: &actions)
            self.settle(pending, seq: nil, &connections, at: now, into: &actions)
        }
    }
}

extension Refusal {
    fileprivate static var mayNotCommit: Refusal {
        Refusal(.forbidden, "The token gives no right to change this room.", field: "roomId")
    }

    fileprivate static var noResult: Refusal {
        Refusal(.unavailable, "There was no result in time; it is safe to send the commit again.", retryAfterMs: 1000)
    }

    /// One without a number has waited for as long as it may.
    fileprivate static var notSent: Refusal {
        Refusal(
            .unavailable, "The commit could not be sent on in time and is not applied; send it again.",
            retryAfterMs: 1000)
    }

    /// This gateway takes no commits any more, and sends none on that waits for its turn.
    static var stops: Refusal {
        Refusal(.unavailable, "This gateway is about to stop; connect again.", retryAfterMs: 100)
    }
}
