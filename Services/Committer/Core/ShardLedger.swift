package import Canvas
import DequeModule
package import Timing
package import Wire

/// One shard's commits on their way into the database: a queue, what is known of the shard, and at most one request.
///
///                 admit                     next: all known
///       ┌──────┐ ───────▶ ┌─────────┐ ─────────────────────────▶ ┌─────────┐ batchWritten: answers, updates
///       │ idle │          │ waiting │ next: needs ┌─────────┐    │ writing │ ───────────────▶ idle or waiting
///       └──────┘          │         │ ──────────▶ │ loading │    └────┬────┘
///                         └─────────┘ ◀────────── └─────────┘         │ batchStale, requestFailed: the batch
///                              ▲       stateLoaded, requestFailed     │ goes back to the head of the queue
///                              └──────────────────────────────────────┘
///
/// A batch is decided here in full, from what is known at one version of the shard, and written with a compare-and-set
/// on that version: then it was true, or nothing happened. After a lost connection nobody knows which; what is known
/// is dropped and the same commits are decided again, and the streams' highest numbers tell what was written.
package struct ShardLedger: Sendable {
    /// A request to the database.
    package enum Request: Equatable, Sendable {
        case load(LoadRequest)
        case write(ShardBatch)
    }

    /// What came of an event: nothing but lists to be passed on.
    package struct Settlement: Equatable, Sendable {
        /// Results, each for the gateway of that name.
        package var results: [(gateway: Identifier, result: CommitResult)] = []
        /// Updates for the shard's fan-out, in order.
        package var updates: [Update] = []
        /// How many commits left the ledger, and their bytes.
        package var commits = 0, bytes = 0
        /// The same by the link over which they came.
        package var finished: [UInt64: CommitLoad] = [:]
        /// How the decisions went.
        package var tally = DecisionTally()
        /// Arrival of each commit that was answered after a write, ns.
        package var arrivals: [Instant] = []
        /// Commits answered `unavailable`, and commits of unknown outcome that were given up without an answer.
        package var expired = 0, abandoned = 0

        /// Nothing.
        package init() {}

        /// Adds what came of a later event.
        package mutating func append(_ other: Settlement) {
            self.results += other.results
            self.updates += other.updates
            self.commits += other.commits
            self.bytes += other.bytes
            self.finished.merge(other.finished) { $0 + $1 }
            self.tally.add(other.tally)
            self.arrivals += other.arrivals
            self.expired += other.expired
            self.abandoned += other.abandoned
        }

        package static func == (lhs: Settlement, rhs: Settlement) -> Bool {
            lhs.updates == rhs.updates && lhs.commits == rhs.commits && lhs.bytes == rhs.bytes
                && lhs.tally == rhs.tally && lhs.expired == rhs.expired && lhs.abandoned == rhs.abandoned
                && lhs.arrivals == rhs.arrivals && lhs.results.elementsEqual(rhs.results) { $0 == $1 }
        }
    }

    private enum Phase: Sendable {
        case idle
        /// The first `count` commits of the queue wait for it.
        case loading(LoadRequest, count: Int)
        case writing([PreparedCommit], BatchDraft)
    }

    /// The shard.
    package let shard: Int
    private let rules: RulesTable
    private let limits: CommitterLimits
    private var queue: Deque<PreparedCommit> = []
    /// What is in the queue or in flight; a second copy of it is not taken.
    private var copies: Set<PreparedCommit.Copy> = []
    private var cache: ShardCache
    private var phase = Phase.idle
    /// How many commits the next batch takes: less after a batch was refused by the database.
    private var batchLimit: Int
    private var failures = 0
    /// Nothing is asked of the database before, ns.
    private(set) var restUntil = Instant.start

    /// An empty ledger.
    package init(shard: Int, rules: RulesTable, limits: CommitterLimits) {
        self.shard = shard
        self.rules = rules
        self.limits = limits
        self.cache = ShardCache(limit: limits.cacheBytesPerShard)
        self.batchLimit = limits.batchItems
    }

    // MARK: Intake

    /// Takes a commit. False when a copy of it waits already, whose result will be this one's as well.
    package mutating func admit(_ commit: PreparedCommit) -> Bool {
        guard self.copies.insert(commit.copy).inserted else { return false }
        self.queue.append(commit)
        return true
    }

    /// True when ``next()`` has something to ask.
    package var isWaiting: Bool {
        if case .idle = self.phase { return !self.queue.isEmpty }
        return false
    }

    /// True when no commit waits or is in flight.
    package var isEmpty: Bool { self.copies.isEmpty }

    /// How many elements are kept in memory.
    package var cachedElements: Int { self.cache.elementCount }

    /// Arrival of the commit that has waited longest, ns. A batch that went back stands at the head again.
    package var oldestArrival: Instant? {
        if case .writing(let commits, _) = self.phase { return commits.first?.arrived }
        return self.queue.first?.arrived
    }

    /// Arrival of the commit at the head of the queue, which the next deadline is for; nil when none waits, and while
    /// those that wait are being read for.
    var oldestQueued: Instant? {
        if case .loading(_, let count) = self.phase { return self.queue.dropFirst(count).first?.arrived }
        return self.queue.first?.arrived
    }

    // MARK: Asking

    /// The next request, nil when there is nothing to do or one is under way.
    package mutating func next() -> Request? {
        guard self.isWaiting else { return nil }
        let count = self.runLength()
        var needs = Needs(shard: self.shard)
        for index in 0..<count {
            self.cache.collect(&self.queue[index], into: &needs)
        }
        guard let version = self.cache.version, needs.request.isEmpty else {
            self.phase = .loading(needs.request, count: count)
            return .load(needs.request)
        }
        var draft = BatchDraft(
            shard: self.shard, version: version, gseq: self.cache.gseq, chain: self.cache.chain, rules: self.rules,
            limits: self.limits, commits: count)
        var commits: [PreparedCommit] = []
        commits.reserveCapacity(count)
        for index in 0..<count {
            commits.append(self.queue.removeFirst())
            draft.decide(commits[index], cache: &self.cache)
        }
        self.phase = .writing(commits, draft)
        return .write(draft.batch)
    }

    private func runLength() -> Int {
        var bytes = 0
        var count = 0
        while count < self.queue.count {
            bytes += self.queue[count].size
            if count >= self.batchLimit || (count > 0 && bytes > self.limits.batchBytes) { break }
            count += 1
        }
        return count
    }

    // MARK: Answers of the database

    /// What was asked for came.
    package mutating func stateLoaded(_ state: LoadedState) {
        guard case .loading(let request, _) = self.phase else { return }
        self.phase = .idle
        self.failures = 0
        self.cache.take(state, for: request)
    }

    /// The batch is in the database, for good.
    package mutating func batchWritten() -> Settlement {
        guard case .writing(let commits, let draft) = self.phase else { return Settlement() }
        self.phase = .idle
        self.failures = 0
        self.batchLimit = min(self.limits.batchItems, self.batchLimit * 2)
        self.cache.commit(
            version: draft.batch.version + 1, gseq: draft.batch.gseq, chain: draft.batch.chain,
            rooms: draft.batch.rooms, streams: draft.batch.streams, elements: draft.elements)
        self.cache.trim()
        var settlement = Settlement()
        settlement.updates = draft.updates
        settlement.tally = draft.tally
        settlement.results = draft.answers.map { ($0.gateway, $0.result) }
        settlement.arrivals.reserveCapacity(commits.count)
        for commit in commits {
            settlement.arrivals.append(commit.arrived)
            self.release(commit, &settlement)
        }
        return settlement
    }

    /// Nothing was written: the shard was at another version, or a session had a new owner.
    package mutating func batchStale() {
        guard case .writing(let commits, _) = self.phase else { return }
        self.putBack(commits)
        self.cache.clear()
    }

    /// The database may be on another history than the one that was read: nothing known counts any more. A request
    /// under way goes on: what it is based on is compared when it is written.
    package mutating func forget() {
        self.cache.clear()
    }

    /// The request came to nothing, or nobody knows.
    package mutating func requestFailed(_ failure: RequestFailure, at now: Instant) -> Settlement {
        switch self.phase {
        case .idle:
            return Settlement()
        case .loading(_, let count):
            self.phase = .idle
            return self.failed(failure, count: count, at: now)
        case .writing(var commits, _):
            if failure == .lost {
                for index in commits.indices { commits[index].isOutcomeUnknown = true }
                self.cache.clear()
            }
            let count = commits.count
            self.putBack(commits)
            return self.failed(failure, count: count, at: now)
        }
    }

    private mutating func failed(_ failure: RequestFailure, count: Int, at now: Instant) -> Settlement {
        switch failure {
        case .lost:
            return Settlement()
        case .transient:
            self.rest(at: now)
            if self.failures > 8 { self.batchLimit = max(1, count / 2) }
            return Settlement()
        case .data:
            return self.isolateFault(count: count)
        }
    }

    /// One commit of the batch holds what the database does not take. The batch is halved until it is alone; it is
    /// then refused, and if not even its refusal can be stored, answered without that.
    private mutating func isolateFault(count: Int) -> Settlement {
        if count > 1 {
            self.batchLimit = max(1, count / 2)
            return Settlement()
        }
        var settlement = Settlement()
        guard !self.queue.isEmpty else { return settlement }
        let refusal = Refusal(.invalid, "The database cannot store the commit.")
        if self.queue[0].edit.refuse(with: refusal) { return settlement }
        let commit = self.queue.removeFirst()
        self.release(commit, &settlement)
        settlement.tally.refused += 1
        settlement.results.append((commit.gateway, commit.result(refusal)))
        return settlement
    }

    /// Waits a little, longer each time, and not in step with other shards.
    private mutating func rest(at now: Instant) {
        let doubled = self.limits.rest * (1 << UInt64(min(self.failures, 10)))
        let spread = UInt64((self.shard * 7 + self.failures * 5) % 16)
        self.failures += 1
        let rest = min(doubled, self.limits.longestRest)
        self.restUntil = now + rest + rest * spread / 16
    }

    private mutating func putBack(_ commits: [PreparedCommit]) {
        self.phase = .idle
        self.queue.prepend(contentsOf: commits)
    }

    // MARK: Deadlines

    /// Gives up commits that have waited too long. One whose outcome is not known gets no answer: it may be in the
    /// database, and the gateway that holds it will ask again.
    package mutating func expire(at now: Instant) -> Settlement {
        var settlement = Settlement()
        var skipped = 0
        if case .loading(_, let count) = self.phase { skipped = count }
        guard let oldest = self.queue.dropFirst(skipped).lazy.map(\.arrived).min(), self.isLate(oldest, now) else {
            return settlement
        }
        var kept = Deque(self.queue.prefix(skipped))
        for commit in self.queue.dropFirst(skipped) {
            guard self.isLate(commit.arrived, now) else {
                kept.append(commit)
                continue
            }
            self.release(commit, &settlement)
            if commit.isOutcomeUnknown {
                settlement.abandoned += 1
            } else {
                settlement.expired += 1
                let refusal = Refusal(
                    .unavailable, "The database did not store the commit in time.", retryAfterMs: 1000)
                settlement.results.append((commit.gateway, commit.result(refusal)))
            }
        }
        self.queue = kept
        return settlement
    }

    private func isLate(_ arrived: Instant, _ now: Instant) -> Bool {
        now >= arrived + self.limits.deadline
    }

    private mutating func release(_ commit: PreparedCommit, _ settlement: inout Settlement) {
        self.copies.remove(commit.copy)
        settlement.commits += 1
        settlement.bytes += commit.size
        settlement.finished[commit.source, default: CommitLoad()].add(commit.size)
    }
}
