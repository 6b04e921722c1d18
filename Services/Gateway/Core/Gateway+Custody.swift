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

    /// A commit needs no custody any more.
    mutating func endCustody(of key: CommitKey) {
        guard let pending = self.commits.removeValue(forKey: key) else { return }
        self.custodyBytes -= pending.weight
    }

    /// Sends a commit in custody, behind those of its shard that wait for credit.
    mutating func dispatch(_ key: CommitKey, at now: UInt64) {
        let shard = Shard.of(room: key.room)
        if self.held[shard]?.isEmpty == false {
            self.hold(key, in: shard)
        } else {
            self.sendOut(key, at: now)
        }
    }

    private mutating func hold(_ key: CommitKey, in shard: Int) {
        guard let pending = self.commits[key] else { return }
        self.commits[key]?.sendAgainAt = .max
        guard !pending.isHeld else { return }
        self.commits[key]?.isHeld = true
        self.counters.held += 1
        self.held[shard, default: []].append(key)
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
        self.sendOut(key, at: now)
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

extension PendingCommit {
    /// Which way it goes the next time: by turns through the coalescer and around it.
    var nextPath: CommitPath { self.attempts.isMultiple(of: 2) ? .coalescer : .committer }
}

extension Command {
    /// About how many bytes it takes in memory.
    var weight: Int {
        switch self {
        case .transform, .delete, .refuse: 256
        case .update(_, let set): 256 + set.count
        case .create(let elements, _): elements.reduce(256) { $0 + 128 + $1.json.count }
        }
    }
}
