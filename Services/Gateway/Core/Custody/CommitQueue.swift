import DequeModule
import Timing
import Wire

/// A commit that was accepted and numbered, and may not be sent yet.
struct DelayedCommit {
    let commit: Commit
    let origin: EventOrigin
}

/// One connection's rate of commits, and those that the gateway numbered and that wait: for the rate, or for results of
/// earlier ones. It outlives the connection until all have been sent.
struct CommitQueue {
    private var limit: TokenBucket
    /// In the order in which they came.
    private var commits: Deque<DelayedCommit> = []

    init(limits: Limits, at now: Instant) {
        self.limit = TokenBucket(capacity: limits.commitBurst, perSecond: limits.commitsPerSecond, now: now)
    }

    var isEmpty: Bool { self.commits.isEmpty }
    var count: Int { self.commits.count }

    /// True when a commit of the room waits: one that comes now must not overtake it.
    func contains(_ room: Identifier) -> Bool {
        !self.commits.isEmpty && self.commits.contains { $0.commit.room == room }
    }

    /// Whether the rate allows this edit now, which it then counts.
    mutating func spend(_ edit: EncodedEdit, at now: Instant) -> Bool {
        self.limit.spend(edit.rateCost, at: now)
    }

    /// How long until the rate allows this edit, ms.
    mutating func waitMs(for edit: EncodedEdit, at now: Instant) -> UInt32 {
        self.limit.waitMs(for: edit.rateCost, at: now)
    }

    /// Removes and returns all that wait, in order.
    mutating func removeAll() -> [DelayedCommit] {
        defer { self.commits.removeAll() }
        return Array(self.commits)
    }

    mutating func append(_ commit: DelayedCommit) { self.commits.append(commit) }

    /// Removes and returns the first commit that may be sent now; nil when there is none, or the rate does not allow it.
    /// - Parameter mayGo: false for all commits of a room that wait for results of earlier ones.
    mutating func next(at now: Instant, where mayGo: (Commit) -> Bool) -> DelayedCommit? {
        guard let index = self.commits.firstIndex(where: { mayGo($0.commit) }),
            self.spend(self.commits[index].commit.edit, at: now)
        else { return nil }
        return self.commits.remove(at: index)
    }
}
