import JSONBytes
package import Wire

/// What comes of a commit in custody: the committer's result, or the deadline.
extension Gateway {
    /// A commit has its result.
    package mutating func resulted(_ result: CommitResult, at now: UInt64) {
        guard let pending = self.custody.resultReceived(result, at: now) else { return }
        // One that was sent again says more of what was lost than of what is slow.
        if pending.attempts == 1 { self.paces.committed(after: (now - min(now, pending.acceptedAt)) * 1000) }
        self.answer(pending, refusal: result.refusal, seq: result.seq, json: result.json)
        self.release(pending, seq: result.refusal == nil ? result.seq : nil)
        if let refusal = result.refusal, !refusal.code.isRetriable {
            self.endGestures(ofRefused: pending.commit)
        }
    }

    private mutating func answer(_ pending: PendingCommit, refusal: Refusal?, seq: UInt64, json: [UInt8]) {
        if refusal == nil { self.recent.note(seq, in: pending.commit.room) }
        switch pending.origin {
        case .app(let slot, let connection, let ackID, let event):
            guard self.isHere(connection, in: slot), !pending.wasGivenUp else { return }
            if refusal == nil { self.tally.acknowledged += 1 }
            if let ackID {
                self.actions.append(.acknowledge(slot, id: ackID, json: json))
            } else if let refusal {
                self.refuse(
                    refusal, slot: slot, ackID: nil, event: event, room: pending.commit.room,
                    element: pending.commit.edit.soleElement,
                    number: pending.commit.isNumberedByApp ? pending.commit.number : nil)
            }
        case .http(let request):
            self.tally.acknowledged += refusal == nil ? 1 : 0
            self.actions.append(
                .http(request: request, status: refusal.map(HTTPStatus.of) ?? HTTPStatus.created, json: json))
        }
    }

    /// Settles what a commit held up: the count of its session, and newer previews of its element.
    mutating func release(_ pending: PendingCommit, seq: UInt64?) {
        guard case .app(let slot, let connection, _, _) = pending.origin, self.isHere(connection, in: slot)
        else { return }
        let mayGo = self.connections[slot]?.memberships[pending.commit.room]?.settle(pending.commit, seq: seq)
        if mayGo == true { self.restless.insert(slot) }
    }

    private mutating func endGestures(ofRefused commit: Commit) {
        for ended in commit.gestures {
            self.endGesture(
                GestureEnd(
                    room: commit.room, element: ended.element, user: commit.user,
                    sid: SessionKey.sid(of: commit.session), gesture: ended.gesture))
        }
    }

    /// The deadline of a commit has come without a result.
    mutating func commitTimedOut(_ key: CustodyKey) {
        guard let pending = self.custody[key] else { return }
        let refusal = Refusal(
            .unavailable, "There was no result in time; it is safe to send the commit again.", retryAfterMs: 1000)
        self.answer(pending, refusal: refusal, seq: 0, json: EventText.refused(refusal))
        if case .app(let slot, let connection, _, _) = pending.origin, !pending.commit.isNumberedByApp,
            self.isHere(connection, in: slot)
        {
            // The gateway's own numbers must go on without a hole, so this commit stays in custody.
            return self.custody.giveUp(key)
        }
        _ = self.custody.end(key)
        self.release(pending, seq: nil)
    }

    // MARK: Ways to the committer

    /// A coalescer or committer of these shards went away or came: what is in custody goes out again.
    package mutating func commitPathChanged(shards: Set<Int>, at now: UInt64) {
        self.custody.pathChanged(shards: shards, at: now, into: &self.actions)
    }

    /// The shell had no credit for a commit that it was told to send: it waits.
    package mutating func commitNotSent(_ commit: Commit) {
        self.custody.commitNotSent(commit)
    }

    /// The shards with commits that wait for credit.
    package var heldShards: [Int] { self.custody.heldShards }

    /// Which way the next commit of a shard goes that waits for credit; nil when none waits.
    package mutating func nextHeldPath(in shard: Int) -> CommitPath? {
        self.custody.nextHeldPath(in: shard)
    }

    /// There is credit for one more commit of a shard: the one that waits longest goes.
    package mutating func releaseHeld(in shard: Int, at now: UInt64) {
        self.custody.sendHeld(in: shard, at: now, into: &self.actions)
    }
}
