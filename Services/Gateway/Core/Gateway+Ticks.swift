import Wire

extension Gateway {
    /// When ``tick(at:seconds:)`` is due, ms; nil when nothing waits for the clock.
    package func nextTick(after now: UInt64) -> UInt64? {
        if !self.restless.isEmpty || !self.queuedJoins.isEmpty { return now + Self.tickMs }
        if self.custody.count > 0 || !self.joins.isEmpty || !self.reads.isEmpty { return now + 50 }
        return self.orphans.map(\.endsAt).min()
    }

    /// Does what waits for the clock: held previews, delayed commits, repetitions, deadlines, orphaned gestures.
    /// - Parameter seconds: the time since 1970, for tokens.
    package mutating func tick(at now: UInt64, seconds: Int64) {
        for slot in self.restless {
            let holdsCommits = self.releaseCommits(of: slot, at: now)
            let holdsPreviews = self.releasePreviews(of: slot, at: now)
            if !holdsCommits, !holdsPreviews { self.restless.remove(slot) }
        }
        for key in self.custody.timeReached(now, into: &self.actions) { self.commitTimedOut(key) }
        self.recent.forget(at: now)
        self.releaseJoins(at: now)
        for pending in self.joins.values {
            if now >= pending.deadline {
                self.joinTimedOut(pending, at: now, seconds: seconds)
            } else if pending.sentAt != .max, now >= pending.sentAt + 1000 {
                self.repeatJoin(pending, at: now)
            }
        }
        for (request, read) in self.reads where now >= read.deadline {
            self.readAnswered(RoomState(request: request, room: read.room, outcome: .unavailable))
        }
        for orphan in self.orphans where now >= orphan.endsAt { self.endGesture(orphan.end) }
        self.orphans.removeAll { now >= $0.endsAt }
    }
}
