import JSONBytes
package import Wire

/// What comes of a commit in custody: the committer's result, or the deadline.
extension Gateway {
    /// A commit has its result.
    package mutating func resulted(_ result: CommitResult, at now: UInt64) {
        let key = CommitKey(room: result.room, session: result.session, number: result.number)
        if let refusal = result.refusal, self.staysInCustody(key, result, refusal, at: now) { return }
        guard let pending = self.endCustody(of: key) else { return }
        // One that was sent again says more of what was lost than of what is slow.
        if pending.attempts == 1 { self.paces.committed(after: (now - min(now, pending.takenAt)) * 1000) }
        self.answer(pending, refusal: result.refusal, seq: result.seq, json: result.json)
        self.release(pending, seq: result.refusal == nil ? result.seq : nil)
        if let refusal = result.refusal, !refusal.code.isRetriable {
            self.endGestures(ofRefused: pending.commit)
        }
    }

    /// True for a refusal that is not the end: it is another copy's, or the gateway tries again.
    private mutating func staysInCustody(
        _ key: CommitKey, _ result: CommitResult, _ refusal: Refusal, at now: UInt64
    ) -> Bool {
        guard let pending = self.commits[key] else { return false }
        // It is for a copy that the app sent on an earlier connection.
        if refusal.code == .sessionExpired, result.connection != pending.commit.connection { return true }
        return refusal.code.isRetriable && self.retries(key, pending, refusal, at: now)
    }

    /// What the gateway itself tries again: commits that it numbered, and commits that wait for one in its custody.
    private mutating func retries(
        _ key: CommitKey, _ pending: PendingCommit, _ refusal: Refusal, at now: UInt64
    ) -> Bool {
        switch refusal.code {
        case .gap:
            guard let expected = refusal.expected, expected < key.number else { return false }
            let missing = CommitKey(room: key.room, session: key.session, number: expected)
            guard let earlier = self.commits[missing] else { return false }
            if earlier.sendAgainAt > now + 50 { self.sendAgain(missing, at: now) }
            self.sendAgain(key, at: now + 100)
            return true
        case .sessionExpired:
            // Perhaps it is for a copy that was sent before the session was claimed anew.
            guard pending.olderCopies > 0 else { return false }
            self.commits[key]?.olderCopies -= 1
            self.sendAgain(key, at: now + 50)
            return true
        case .busy, .unavailable, .rateLimited:
            guard !pending.commit.isNumberedByApp else { return false }
            self.sendAgain(key, at: now + UInt64(max(50, refusal.retryAfterMs ?? 200)))
            return true
        default:
            return false
        }
    }

    private mutating func answer(_ pending: PendingCommit, refusal: Refusal?, seq: UInt64, json: [UInt8]) {
        if refusal == nil { self.recent.note(seq, in: pending.commit.room) }
        switch pending.origin {
        case .app(let slot, let connection, let ackID, let event):
            guard self.isHere(connection, in: slot), !pending.wasGivenUp else { return }
            if refusal == nil { self.counters.acknowledged += 1 }
            if let ackID {
                self.actions.append(.acknowledge(slot, id: ackID, json: json))
            } else if let refusal {
                self.refuse(
                    refusal, slot: slot, ackID: nil, event: event, room: pending.commit.room,
                    element: pending.commit.edit.soleElement,
                    number: pending.commit.isNumberedByApp ? pending.commit.number : nil)
            }
        case .http(let request):
            self.counters.acknowledged += refusal == nil ? 1 : 0
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
    mutating func commitTimedOut(_ key: CommitKey, at now: UInt64) {
        guard var pending = self.commits[key] else { return }
        let refusal = Refusal(.unavailable, "no result in time; it is safe to send again", retryAfterMs: 1000)
        if case .app(let slot, let connection, _, _) = pending.origin, !pending.commit.isNumberedByApp,
            self.isHere(connection, in: slot)
        {
            // The gateway's own numbers must go on without a hole, so this commit stays in custody.
            guard !pending.wasGivenUp else { return }
            self.answer(pending, refusal: refusal, seq: 0, json: EventText.refused(refusal))
            pending.wasGivenUp = true
            self.commits[key] = pending
            self.watch(pending)
            return
        }
        _ = self.endCustody(of: key)
        self.answer(pending, refusal: refusal, seq: 0, json: EventText.refused(refusal))
        self.release(pending, seq: nil)
    }
}
