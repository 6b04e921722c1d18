import JSONBytes
package import Timing
package import Wire

/// Commits, from the event to the result.
extension Gateway {
    /// An app wants something to last.
    mutating func commit(
        _ event: IncomingEvent, _ kind: EditKind, room: Identifier, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let slot = event.slot
        try self.connections[slot]?.checkCommit(in: room)
        let number = try EventReader.number(event.payload["n"])
        try self.connections[slot]?.checkTurn(
            in: room, isNumbered: number != nil, bound: self.limits.unacknowledged)
        try self.custody.checkRoom(for: event.payload.rawBytes.count)
        let draft = self.reader.commit(kind, event.payload)
        for element in draft.abandoned {
            guard let gesture = self.connections[slot]?.abandonGesture(on: element, in: room) else { continue }
            actions.append(.gestureEnd(gesture))
        }
        if let fault = draft.fault, number == nil { throw fault }
        let step = self.connections[slot]?.accept(
            draft, number: number, from: event.origin, in: room, gateway: self.name, at: event.now)
        switch step {
        case .goes(let commit):
            let origin = PendingCommit.Origin.app(event.origin, connection: commit.connection)
            self.keep(commit, from: origin, at: event.now, into: &actions)
        case .waits(let weight):
            self.custody.reserve(weight)
            self.connections.startsWaiting(slot)
        case .tooFast(let wait):
            let refusal = Refusal(
                .rateLimited, "This connection sends commits too fast.", retryAfterMs: wait)
            self.connections.refuse(refusal, event.origin, room: room, number: number, into: &actions)
        case nil: break
        }
    }

    /// Accepts a commit into custody, which sends it.
    mutating func keep(
        _ commit: Commit, from origin: PendingCommit.Origin, at now: Instant, into actions: inout [GatewayAction]
    ) {
        let earlier = self.custody.accept(commit, from: origin, at: now, into: &actions)
        if let earlier { self.connections.settle(earlier, seq: nil) }
    }

    /// Sends the commits and previews of a connection that waited for rate limits or results, as far as they may go.
    mutating func releaseWaiting(of slot: Slot, at now: Instant, into actions: inout [GatewayAction]) {
        while let next = self.connections[slot]?.nextDelayed(at: now) {
            self.custody.unreserve(next.edit.weight)
            guard let commit = self.connections[slot]?.commit(next, number: nil, gateway: self.name) else {
                self.connections.refuse(.notJoined, next.origin, room: next.room, into: &actions)
                continue
            }
            self.keep(
                commit, from: .app(next.origin, connection: commit.connection), at: now, into: &actions)
        }
        var previews: [Preview] = []
        let isHoldingPreviews = self.connections[slot]?.releasePreviews(at: now, into: &previews) ?? false
        for preview in previews { self.send(preview, at: now, into: &actions) }
        if !isHoldingPreviews, self.connections[slot]?.delayed.isEmpty ?? true { self.connections.waitsNoMore(slot) }
    }

    // MARK: Results

    /// A commit has its result.
    package mutating func resultReceived(
        _ result: CommitResult, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.clock = now
        guard let pending = self.custody.resultReceived(result, at: now) else { return }
        // One that was sent again says more of what was lost than of what is slow.
        if pending.attempts == 1 { self.pacer.commitAnswered(after: now.elapsed(since: pending.acceptedAt)) }
        self.answer(pending, refusal: result.refusal, seq: result.seq, json: result.json, into: &actions)
        self.connections.settle(pending, seq: result.refusal == nil ? result.seq : nil)
        guard let refusal = result.refusal, !refusal.code.isRetriable else { return }
        for gesture in pending.gestureEnds { actions.append(.gestureEnd(gesture)) }
    }

    private mutating func answer(
        _ pending: PendingCommit, refusal: Refusal?, seq: UInt64, json: [UInt8], into actions: inout [GatewayAction]
    ) {
        if refusal == nil { self.recent.note(seq, in: pending.commit.room) }
        switch pending.origin {
        case .app(let origin, let connection):
            guard self.connections.contains(connection, in: origin.slot), !pending.wasGivenUp else { return }
            if refusal == nil { self.tally.acknowledged += 1 }
            if let ackID = origin.ackID {
                actions.append(.acknowledge(origin.slot, id: ackID, json: json))
            } else if let refusal {
                self.connections.refuse(
                    refusal, origin, room: pending.commit.room, element: pending.commit.edit.soleElement,
                    number: pending.commit.isNumberedByApp ? pending.commit.number : nil, into: &actions)
            }
        case .http(let request):
            self.tally.acknowledged += refusal == nil ? 1 : 0
            let status = refusal.map(HTTPStatus.of) ?? HTTPStatus.created
            actions.append(.http(request: request, status: status, json: json))
        }
    }

    /// The deadline of a commit has come without a result.
    mutating func commitExpired(_ key: CustodyKey, into actions: inout [GatewayAction]) {
        guard let pending = self.custody[key] else { return }
        let refusal = Refusal(
            .unavailable, "There was no result in time; it is safe to send the commit again.", retryAfterMs: 1000)
        self.answer(pending, refusal: refusal, seq: 0, json: EventText.refused(refusal), into: &actions)
        if case .app(let origin, let connection) = pending.origin, !pending.commit.isNumberedByApp,
            self.connections.contains(connection, in: origin.slot)
        {
            // The gateway's own numbers must go on without a hole, so this commit stays in custody.
            return self.custody.giveUp(key)
        }
        _ = self.custody.end(key)
        self.connections.settle(pending, seq: nil)
    }

    // MARK: Ways to the committer

    /// A coalescer or committer of these shards came or went away: what is in custody goes out again.
    package mutating func commitLinksChanged(
        shards: Set<Int>, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.custody.linksChanged(shards: shards, at: now, into: &actions)
    }

    /// The shell had no credit for a commit that it had to send: it waits.
    package mutating func commitNotSent(_ commit: Commit) { self.custody.commitNotSent(commit) }

    /// Sends the next commit that waits for credit; see ``Custody/sendNextHeld(after:at:into:hasCredit:)``.
    package mutating func sendNextHeld(
        after shard: Int?, at now: Instant, into actions: inout [GatewayAction], hasCredit: (Int, CommitPath) -> Bool
    ) -> Int? {
        self.custody.sendNextHeld(after: shard, at: now, into: &actions, hasCredit: hasCredit)
    }
}
