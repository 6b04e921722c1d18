import Auth
import JSONBytes
import Timing
import Wire

/// Commits, from the event to the answer.
///
///     event ──► read, checked ──► rate ──► custody ──► result, or the deadline ──► answer
///                            └──► refused
package struct Commits {
    /// Commits without a result.
    package internal(set) var custody: Custody
    /// Commits acknowledged.
    private(set) var acknowledgedTotal: UInt64 = 0
    private let gateway: Identifier
    private let limits: Limits

    /// - Parameter gateway: its mesh name, which commits carry so that results find back.
    init(gateway: Identifier, limits: Limits) {
        self.gateway = gateway
        self.limits = limits
        self.custody = Custody(limits: limits)
    }

    // MARK: From apps

    /// An app wants something to last.
    mutating func received(
        _ event: IncomingEvent, _ kind: EditKind, room: Identifier, _ reader: inout EventReader,
        _ connections: inout Connections, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let slot = event.slot
        try connections.bySlot[slot]?.checkCommit(in: room)
        let number = try EventReader.number(event.payload["n"])
        try connections.bySlot[slot]?.checkTurn(in: room, isNumbered: number != nil, bound: self.limits.unacknowledged)
        try self.custody.checkRoom(for: event.payload.rawBytes.count)
        let draft = reader.commit(kind, event)
        for element in draft.abandoned {
            guard let gesture = connections.bySlot[slot]?.abandonGesture(on: element, in: room) else { continue }
            actions.append(.gestureEnd(gesture))
        }
        if let fault = draft.fault, number == nil { throw fault }
        let step = connections.bySlot[slot]?.accept(
            draft, number: number, from: event.origin, in: room, gateway: self.gateway, at: event.now)
        switch step {
        case .goes(let commit):
            self.keep(commit, from: event.origin, &connections, at: event.now, into: &actions)
        case .waits(let weight):
            self.custody.reserve(weight)
            connections.startsWaiting(slot)
        case .tooFast(let wait):
            let refusal = Refusal(.rateLimited, "This connection sends commits too fast.", retryAfterMs: wait)
            connections.refuse(refusal, event.origin, room: room, number: number, into: &actions)
        case nil: break
        }
    }

    /// Accepts a commit into custody, which sends it.
    private mutating func keep(
        _ commit: Commit, from origin: EventOrigin, _ connections: inout Connections, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        let origin = PendingCommit.Origin.app(origin, connection: commit.connection)
        let earlier = self.custody.accept(commit, from: origin, at: now, into: &actions)
        if let earlier { connections.settle(earlier, seq: nil) }
    }

    /// Sends the commits of a connection that waited for the rate limit, as far as they may go.
    mutating func releaseDelayed(
        of slot: Slot, _ connections: inout Connections, at now: Instant, into actions: inout [GatewayAction]
    ) {
        while let next = connections.bySlot[slot]?.nextDelayed(at: now) {
            self.custody.unreserve(next.edit.weight)
            if let commit = connections.bySlot[slot]?.commit(next, number: nil, gateway: self.gateway) {
                self.keep(commit, from: next.origin, &connections, at: now, into: &actions)
            } else {
                connections.refuse(.notJoined, next.origin, room: next.room, into: &actions)
            }
        }
    }

    /// A connection is gone: what waited for its rate limit is forgotten.
    mutating func forget(_ delayed: some Sequence<AcceptedCommit>) {
        for commit in delayed { self.custody.unreserve(commit.edit.weight) }
    }

    // MARK: From HTTP

    /// An element is created over HTTP, as the one commit of a session.
    mutating func create(
        in text: String, _ body: [UInt8], session: Identifier, as identity: Identity, number request: UInt64,
        _ reader: inout EventReader, at now: Instant, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let room = try RoomID.parse(text)
        guard identity.may(.commit, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to change this room.", field: "roomId")
        }
        try self.custody.checkRoom(for: body.count)
        let edit = try reader.creation(body)
        guard self.custody[CustodyKey(room: room, session: session, number: 1)] == nil else {
            throw Refusal(.busy, "A request with the same Idempotency-Key is under way.", retryAfterMs: 200)
        }
        let commit = Commit(
            room: room, session: session, claim: 1, number: 1, isNumberedByApp: false,
            user: identity.member.user, connection: 0, gateway: self.gateway, gestures: [], edit: EncodedEdit(edit))
        _ = self.custody.accept(commit, from: .http(request), at: now, into: &actions)
    }

    // MARK: Results

    /// A commit has its result.
    mutating func resultReceived(
        _ result: CommitResult, _ connections: inout Connections, _ rooms: inout Rooms, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        guard let pending = self.custody.resultReceived(result, at: now) else { return }
        // One that was sent again says more of what was lost than of what is slow.
        if pending.attempts == 1 { rooms.commitAnswered(after: now.elapsed(since: pending.acceptedAt)) }
        if result.refusal == nil { rooms.acknowledged(result.seq, in: pending.commit.room) }
        self.answer(pending, refusal: result.refusal, json: result.json, &connections, into: &actions)
        connections.settle(pending, seq: result.refusal == nil ? result.seq : nil)
        guard let refusal = result.refusal, !refusal.code.isRetriable else { return }
        for gesture in pending.gestureEnds { actions.append(.gestureEnd(gesture)) }
    }

    private mutating func answer(
        _ pending: PendingCommit, refusal: Refusal?, json: [UInt8], _ connections: inout Connections,
        into actions: inout [GatewayAction]
    ) {
        switch pending.origin {
        case .app(let origin, let connection):
            guard connections.contains(connection, in: origin.slot), !pending.wasGivenUp else { return }
            if refusal == nil { self.acknowledgedTotal += 1 }
            if let ackID = origin.ackID {
                actions.append(.acknowledge(origin.slot, id: ackID, json: json))
            } else if let refusal {
                connections.refuse(
                    refusal, origin, room: pending.commit.room, element: pending.commit.edit.soleElement,
                    number: pending.commit.isNumberedByApp ? pending.commit.number : nil, into: &actions)
            }
        case .http(let request):
            self.acknowledgedTotal += refusal == nil ? 1 : 0
            let status = refusal.map(HTTPStatus.of) ?? HTTPStatus.created
            actions.append(.http(request: request, status: status, json: json))
        }
    }

    /// Time has passed: commits without a result are sent again, and answered at their deadlines.
    mutating func timeReached(_ now: Instant, _ connections: inout Connections, into actions: inout [GatewayAction]) {
        for key in self.custody.timeReached(now, into: &actions) {
            guard let pending = self.custody[key] else { continue }
            self.answer(pending, refusal: .noResult, json: EventText.refused(.noResult), &connections, into: &actions)
            if case .app(let origin, let connection) = pending.origin, !pending.commit.isNumberedByApp,
                connections.contains(connection, in: origin.slot)
            {
                // The gateway's own numbers must go on without a hole, so this commit stays in custody.
                self.custody.giveUp(key)
            } else {
                _ = self.custody.end(key)
                connections.settle(pending, seq: nil)
            }
        }
    }
}

extension Refusal {
    fileprivate static var noResult: Refusal {
        Refusal(.unavailable, "There was no result in time; it is safe to send the commit again.", retryAfterMs: 1000)
    }
}
