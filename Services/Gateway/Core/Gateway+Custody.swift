import DequeModule
package import Wire

/// The bounds of custody, and what waits there for credit.
///
///     taken ──► sent ──────────────► result
///       │        ▲
///       └► held ─┘ no credit: sent in order as credit comes back
///
/// A stage behind that is slow gives no more credit. Commits then wait here, where they have to be kept anyway; when
/// custody is full, apps are told to come again. So nothing piles up anywhere and nothing is lost.
extension Gateway {
    /// How long an app waits before it tries again, ms.
    static let busyMs: UInt32 = 500

    /// Refuses what custody has no room for.
    mutating func checkCustody(for bytes: Int) throws(Refusal) {
        guard self.commits.count + self.delayedCount < self.limits.custodyCommits,
            self.custodyBytes + bytes <= self.limits.custodyBytes || self.custodyBytes == 0
        else {
            self.counters.busy += 1
            throw Refusal(.busy, "too many commits are waiting", retryAfterMs: Self.busyMs)
        }
    }

    // MARK: In and out

    /// Takes a commit into custody and sends it for the first time.
    mutating func take(_ commit: Commit, origin: PendingCommit.Origin, at now: UInt64) {
        let key = CommitKey(room: commit.room, session: commit.session, number: commit.number)
        var pending = PendingCommit(
            commit: commit, origin: origin, takenAt: now, deadline: now + self.limits.deadlineMs, sendAgainAt: now,
            weight: commit.edit.weight)
        self.custodyBytes += pending.weight
        self.counters.commits += 1
        let shard = Shard.of(room: commit.room)
        if self.isHeldBack(shard) {
            self.hold(&pending, key, in: shard)
        } else {
            self.sendOut(&pending, shard: shard, at: now)
        }
        guard let earlier = self.commits.updateValue(pending, forKey: key) else { return }
        // The app sent the number again before its result: the newer event gets the answer.
        self.custodyBytes -= earlier.weight
        self.release(earlier, seq: nil)
        if earlier.commit.claim < commit.claim {
            self.commits[key]?.olderCopies = earlier.olderCopies + earlier.attempts
        }
    }

    /// A commit needs no custody any more.
    mutating func endCustody(of key: CommitKey) -> PendingCommit? {
        guard let pending = self.commits.removeValue(forKey: key) else { return nil }
        self.custodyBytes -= pending.weight
        return pending
    }

    /// Sends a commit in custody, behind those of its shard that wait for credit.
    mutating func dispatch(_ key: CommitKey, at now: UInt64) {
        let shard = Shard.of(room: key.room)
        if self.isHeldBack(shard) {
            self.hold(key, in: shard)
        } else {
            self.sendOut(key, shard: shard, at: now)
        }
    }

    /// True when commits of the shard wait for credit.
    private func isHeldBack(_ shard: Int) -> Bool {
        !self.held.isEmpty && self.held[shard]?.isEmpty == false
    }

    private mutating func sendOut(_ key: CommitKey, shard: Int, at now: UInt64) {
        guard var pending = self.commits[key] else { return }
        self.sendOut(&pending, shard: shard, at: now)
        self.commits[key] = pending
    }

    /// Sends a commit: the first time through the coalescer, then by turns around it.
    private mutating func sendOut(_ pending: inout PendingCommit, shard: Int, at now: UInt64) {
        if pending.attempts > 0 { self.counters.resent += 1 }
        let path = pending.attempt(at: now)
        self.watch(pending)
        self.actions.append(.commit(shard: shard, path: path, pending.commit))
    }

    private mutating func hold(_ key: CommitKey, in shard: Int) {
        guard var pending = self.commits[key] else { return }
        self.hold(&pending, key, in: shard)
        self.commits[key] = pending
    }

    private mutating func hold(_ pending: inout PendingCommit, _ key: CommitKey, in shard: Int) {
        pending.sendAgainAt = .max
        self.watch(pending)
        guard !pending.isHeld else { return }
        pending.isHeld = true
        self.counters.held += 1
        self.held[shard, default: []].append(key)
    }

    // MARK: Time

    /// Sends a commit again at that time.
    mutating func sendAgain(_ key: CommitKey, at time: UInt64) {
        self.commits[key]?.sendAgainAt = time
        self.custodyDueAt = min(self.custodyDueAt, time)
    }

    /// Looks at custody again when this commit is due.
    mutating func watch(_ pending: PendingCommit) {
        self.custodyDueAt = min(self.custodyDueAt, pending.dueAt)
    }

    /// Sends again what has no result yet, and tells apps whose deadline has come. All of custody is looked through,
    /// therefore not before something may be due.
    mutating func repeatCommits(at now: UInt64) {
        guard now >= self.custodyDueAt else { return }
        var due: [CommitKey] = []
        var late: [CommitKey] = []
        self.custodyDueAt = .max
        for (key, pending) in self.commits {
            if now < pending.dueAt {
                self.watch(pending)
            } else if now >= pending.deadline, !pending.wasGivenUp {
                late.append(key)
            } else {
                due.append(key)
            }
        }
        for key in late { self.commitTimedOut(key, at: now) }
        for key in due.sorted(by: { $0.number < $1.number }) { self.dispatch(key, at: now) }
    }

    // MARK: Credit

    /// The shell had no credit for a commit that it was told to send: it waits.
    package mutating func commitNotSent(_ commit: Commit) {
        let key = CommitKey(room: commit.room, session: commit.session, number: commit.number)
        self.commits[key]?.attempts -= 1
        self.hold(key, in: Shard.of(room: commit.room))
    }

    /// The shards with commits that wait for credit.
    package var heldShards: [Int] { self.held.keys.sorted() }

    /// Which way the next commit of a shard goes that waits for credit; nil when none waits.
    package mutating func nextHeldPath(in shard: Int) -> CommitPath? {
        while let key = self.held[shard]?.first {
            if let pending = self.commits[key], pending.isHeld { return pending.nextPath }
            self.held[shard]?.removeFirst()
        }
        self.held[shard] = nil
        return nil
    }

    /// There is credit for one more commit of a shard: the one that waits longest goes.
    package mutating func releaseHeld(in shard: Int, at now: UInt64) {
        guard let key = self.held[shard]?.popFirst() else { return }
        self.commits[key]?.isHeld = false
        self.sendOut(key, shard: shard, at: now)
    }

    /// Nothing of these shards waits for credit any more: another peer serves them.
    mutating func forgetHeld(in shards: Set<Int>) {
        for shard in shards {
            for key in self.held.removeValue(forKey: shard) ?? [] { self.commits[key]?.isHeld = false }
        }
    }

    // MARK: Looking in

    /// How many commits wait for credit.
    package var heldCount: Int { self.held.values.reduce(0) { $0 + $1.count } }

    /// How long the oldest commit in custody has waited, ms.
    package func oldestCustody(at now: UInt64) -> UInt64 {
        self.commits.values.map(\.takenAt).min().map { now - min(now, $0) } ?? 0
    }

    // MARK: Leaving

    /// An app's connection is about to be closed: no more commits are taken from it.
    package mutating func startLeaving(_ slot: Slot) {
        guard self.connections.indices.contains(slot) else { return }
        self.connections[slot]?.isLeaving = true
    }

    /// True while an app has commits here without a result.
    package func owesResults(to slot: Slot) -> Bool {
        guard self.connections.indices.contains(slot) else { return false }
        return self.connections[slot]?.owesResults ?? false
    }
}
