import DequeModule
import Timing
import Wire

/// A commit that was accepted and numbered; it may have to wait before it is sent.
struct AcceptedCommit {
    let commit: Commit
    let origin: EventOrigin
    let acceptedAt: Instant
    /// True once the app has been answered that there is no result yet. It is sent all the same, since it has a number.
    var wasGivenUp = false
}

/// Why a commit may not be sent now.
struct CommitDelay {
    /// The refusal of one that cannot wait.
    let refusal: Refusal
    /// True when it is the user's rate that does not allow it.
    let isOfUser: Bool
}

/// One connection's rate of commits, and those that the gateway numbered and that wait: for the rate, or for results of
/// earlier ones. It outlives the connection until all have been sent.
struct CommitQueue {
    private var limit: RateMeter
    /// In the order in which they came.
    private var commits: Deque<AcceptedCommit> = []

    init(limits: GatewayLimits) {
        self.limit = RateMeter(perSecond: limits.commitsPerSecond, burst: limits.commitBurst)
    }

    var isEmpty: Bool { self.commits.isEmpty }
    var count: Int { self.commits.count }

    /// True when a commit of the room waits: one that comes now must not overtake it.
    func contains(_ room: Identifier) -> Bool {
        !self.commits.isEmpty && self.commits.contains { $0.commit.room == room }
    }

    /// Counts an edit against the rates of the connection and of its user.
    /// - Returns: nil; or, when one of them does not allow it now and neither counts it, why.
    mutating func spend(
        _ edit: EncodedEdit, of user: Identifier, _ users: inout RateBudget<Identifier>, at now: Instant
    ) -> CommitDelay? {
        guard self.limit.allows(edit.rateCost, at: now) else { return self.tooFast(edit, at: now) }
        if let wait = users.spend(edit.rateCost, of: user, at: now) {
            return CommitDelay(refusal: .userCommitsTooFast(retryAfterMs: wait), isOfUser: true)
        }
        _ = self.limit.spend(edit.rateCost, at: now)
        return nil
    }

    /// Counts a signal as a commit that does not wait: not before those that do.
    mutating func spendSignal(
        of user: Identifier, _ users: inout RateBudget<Identifier>, at now: Instant
    ) throws(Refusal) {
        guard self.isEmpty, self.limit.allows(1, at: now) else {
            let wait = self.limit.wait(for: 1, at: now).retryMilliseconds
            throw Refusal(.rateLimited, "This connection sends commits and signals too fast.", retryAfterMs: wait)
        }
        if let wait = users.spend(of: user, at: now) {
            users.countRefusal()
            throw .userCommitsTooFast(retryAfterMs: wait)
        }
        _ = self.limit.spend(1, at: now)
    }

    /// Counts more against the connection's rate than the commit itself.
    mutating func charge(_ count: Int, at now: Instant) { self.limit.charge(count, at: now) }

    /// The delay of an edit that has to wait, with the time until the connection's rate allows it.
    func tooFast(_ edit: EncodedEdit, at now: Instant) -> CommitDelay {
        let wait = self.limit.wait(for: edit.rateCost, at: now).retryMilliseconds
        let refusal = Refusal(.rateLimited, "This connection sends commits too fast.", retryAfterMs: wait)
        return CommitDelay(refusal: refusal, isOfUser: false)
    }

    /// Removes and returns all that wait, in order.
    mutating func removeAll() -> [AcceptedCommit] {
        defer { self.commits.removeAll() }
        return Array(self.commits)
    }

    mutating func append(_ commit: AcceptedCommit) { self.commits.append(commit) }

    /// Gives up those that have waited for so long: they go on waiting, but their app does not.
    /// - Parameter isBlocked: true for all commits of a room that wait for results of earlier ones, and of a user who owes
    ///   much. The usual wait for a rate is short, and does not count.
    mutating func giveUp(
        after span: Nanoseconds, at now: Instant, where isBlocked: (Commit) -> Bool
    ) -> [AcceptedCommit] {
        var late: [AcceptedCommit] = []
        for index in self.commits.indices {
            // They came in this order.
            guard now >= self.commits[index].acceptedAt + span else { break }
            if self.commits[index].wasGivenUp || !isBlocked(self.commits[index].commit) { continue }
            late.append(self.commits[index])
            self.commits[index].wasGivenUp = true
        }
        return late
    }

    /// Removes and returns the first commit that may be sent now; nil when there is none, or a rate does not allow it.
    /// - Parameter mayGo: false for all commits of a room that wait for results of earlier ones.
    mutating func next(
        _ users: inout RateBudget<Identifier>, at now: Instant, where mayGo: (Commit) -> Bool
    ) -> AcceptedCommit? {
        guard let index = self.commits.firstIndex(where: { mayGo($0.commit) }) else { return nil }
        let commit = self.commits[index].commit
        guard self.spend(commit.edit, of: commit.user, &users, at: now) == nil else { return nil }
        return self.commits.remove(at: index)
    }
}

extension Refusal {
    static func userCommitsTooFast(retryAfterMs: UInt32) -> Refusal {
        Refusal(.rateLimited, "This user sends commits too fast.", retryAfterMs: retryAfterMs)
    }
}
