import DequeModule
import Timing
import Wire

struct AcceptedCommit {
    /// Its number is 0 while it waits: the gateway gives one when it sends it.
    var commit: Commit
    let origin: EventOrigin
    let acceptedAt: Instant
}

/// What becomes of a commit that was accepted.
enum CommitStep {
    case goes(Commit)
    /// It waits for the rate limit, or for results of earlier ones.
    case waits(Commit)
}

/// Why a commit may not be sent now.
struct CommitDelay {
    /// The refusal of one that cannot wait.
    let refusal: Refusal
    /// True when it is the user's rate that does not allow it.
    let isOfUser: Bool
}

/// One connection's commits: their rate, how many of each room have no result yet, and those without a number of the app's
/// that wait. These go one at a time in each room, behind numbered ones, under rising numbers of the gateway's; it does not
/// matter that a room's numbers have holes. It outlives the connection until all have been sent.
struct CommitQueue {
    private var limit: RateMeter
    private let mostAhead: Int
    /// Those that wait, in the order in which they came.
    private var waiting: Deque<AcceptedCommit> = []
    /// How many commits of each room were sent and have no result. These are few rooms: to look through them costs less
    /// than to hash a name.
    private var underWay: [(room: Identifier, count: Int)] = []
    private var lastNumber: UInt64 = 0

    init(limits: GatewayLimits) {
        self.limit = RateMeter(perSecond: limits.commitsPerSecond, burst: limits.commitBurst)
        self.mostAhead = limits.aheadOfUnnumbered
    }

    var isEmpty: Bool { self.waiting.isEmpty }
    var count: Int { self.waiting.count }
    var owesResults: Bool { !self.waiting.isEmpty || !self.underWay.isEmpty }

    /// True when a commit of the room waits: one that comes now must not overtake it.
    func contains(_ room: Identifier) -> Bool {
        !self.waiting.isEmpty && self.waiting.contains { $0.commit.room == room }
    }

    func underWay(in room: Identifier) -> Int { self.underWay.first { $0.room == room }?.count ?? 0 }

    /// True when a commit that the gateway numbers must wait for earlier ones of the room.
    func isBlocked(_ room: Identifier) -> Bool { self.underWay(in: room) > self.mostAhead }

    /// Counts an edit against the rates of the connection and of its user.
    /// - Returns: nil; or, when one of them does not allow it now and neither counts it, why.
    mutating func spend(
        _ edit: EncodedEdit, of user: Identifier, _ users: inout RateBudget<Identifier>, at now: Instant
    ) -> CommitDelay? {
        guard self.limit.allows(edit.rateCost, at: now) else {
            let wait = self.limit.wait(for: edit.rateCost, at: now).retryMilliseconds
            let refusal = Refusal(.rateLimited, "This connection sends commits too fast.", retryAfterMs: wait)
            return CommitDelay(refusal: refusal, isOfUser: false)
        }
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

    mutating func append(_ commit: AcceptedCommit) { self.waiting.append(commit) }

    /// A commit is about to be sent; it gets a number unless the app gave one.
    mutating func send(_ commit: inout Commit) {
        if commit.number == 0 {
            self.lastNumber += 1
            commit.number = self.lastNumber
        }
        if let index = self.underWay.firstIndex(where: { $0.room == commit.room }) {
            self.underWay[index].count += 1
        } else {
            self.underWay.append((commit.room, 1))
        }
    }

    /// A commit of the room that was sent has its result, or never will have one here.
    mutating func settle(in room: Identifier) {
        guard let index = self.underWay.firstIndex(where: { $0.room == room }) else { return }
        self.underWay[index].count -= 1
        if self.underWay[index].count == 0 { self.underWay.remove(at: index) }
    }

    /// Removes, numbers and returns the first commit that may be sent now; nil when there is none, or a rate does not allow
    /// it.
    mutating func next(_ users: inout RateBudget<Identifier>, at now: Instant) -> AcceptedCommit? {
        guard let index = self.waiting.firstIndex(where: { !self.isBlocked($0.commit.room) }) else { return nil }
        let commit = self.waiting[index].commit
        guard self.spend(commit.edit, of: commit.user, &users, at: now) == nil else { return nil }
        var next = self.waiting.remove(at: index)
        self.send(&next.commit)
        return next
    }

    /// Removes and returns those that have waited for so long, in order.
    mutating func removeLate(after span: Nanoseconds, at now: Instant) -> [AcceptedCommit] {
        var late: [AcceptedCommit] = []
        while let first = self.waiting.first, now >= first.acceptedAt + span { late.append(self.waiting.removeFirst()) }
        return late
    }

    mutating func removeAll() -> [AcceptedCommit] { Array(exchange(&self.waiting, with: [])) }
}

extension Refusal {
    static func userCommitsTooFast(retryAfterMs: UInt32) -> Refusal {
        Refusal(.rateLimited, "This user sends commits too fast.", retryAfterMs: retryAfterMs)
    }
}
