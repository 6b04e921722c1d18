package import Canvas
import DequeModule
package import Timing
package import Wire

/// The commits of one shard on their way into the database: queues, the cached state, and at most one request.
///
///                 admit                     next: all known
///       ┌──────┐ ───────▶ ┌─────────┐ ─────────────────────────▶ ┌─────────┐ batchWritten: answers, updates
///       │ idle │          │ waiting │ next: needs ┌─────────┐    │ writing │ ───────────────▶ idle or waiting
///       └──────┘          │         │ ──────────▶ │ loading │    └────┬────┘
///                         └─────────┘ ◀────────── └─────────┘         │ batchStale, requestFailed: the batch
///                              ▲       stateLoaded, requestFailed     │ goes back to the head of the queue
///                              └──────────────────────────────────────┘
///
/// A batch is decided here completely, on the cached state at one version of the shard, and written with a
/// compare-and-set on that version: it takes effect on exactly that state or not at all. After a lost connection the
/// outcome is unknown: the cache is dropped and the same commits are decided again, and the streams' highest numbers
/// show what was written.
package struct ShardLedger: Sendable {
    package enum Request: Equatable, Sendable {
        case load(LoadRequest)
        case write(ShardBatch)
    }

    /// The effects of an event, to be passed on.
    package struct Settlement: Equatable, Sendable {
        /// Results in the order of the commits.
        package var results: [CommitAnswer] = []
        /// Updates for the shard's fan-out, in order.
        package var updates: [Update] = []
        /// The number of commits that left the ledger, and their bytes.
        package var commits = 0, bytes = 0
        /// The same by the link on which they arrived.
        package var finished: [UInt64: CommitLoad] = [:]
        package var tally = DecisionTally()
        /// The arrival of each commit that was answered after a write.
        package var arrivals: [Instant] = []
        /// Commits answered `unavailable`, and commits of unknown outcome that expired without an answer.
        package var expired = 0, abandoned = 0

        /// Counts a commit that leaves the ledger.
        mutating func finish(_ commit: PreparedCommit) {
            self.commits += 1
            self.bytes += commit.size
            self.finished[commit.source, default: CommitLoad()].add(commit.size)
        }
    }

    private enum Phase: Sendable {
        case idle
        /// The first `count` commits of the queue wait for it.
        case loading(LoadRequest, count: Int)
        case writing([PreparedCommit], BatchDraft)
    }

    package let shard: Int
    private var rules: RulesTable
    private let limits: CommitterLimits
    /// The commits whose turn has not come.
    private var waiting = CommitTurns()
    /// The commits whose turn has come, in the order in which they are decided: at most a batch.
    private var queue: Deque<PreparedCommit> = []
    /// The queued and in-flight commits; a second copy of one is not enqueued.
    private var copies: Set<PreparedCommit.Copy> = []
    private var cache: ShardCache
    private var phase = Phase.idle
    /// The maximum number of commits in the next batch: lower after the database rejected a batch.
    private var batchLimit: Int
    private var failures = 0
    /// No requests are sent before this time.
    private(set) var backOffUntil = Instant.start

    package init(shard: Int, rules: RulesTable, limits: CommitterLimits) {
        self.shard = shard
        self.rules = rules
        self.limits = limits
        self.cache = ShardCache(limit: limits.cacheBytesPerShard)
        self.batchLimit = limits.batchCommits
    }

    // MARK: Intake

    /// Enqueues a commit. False when a copy of it is queued already, whose result serves both.
    package mutating func admit(_ commit: PreparedCommit) -> Bool {
        guard self.copies.insert(commit.copy).inserted else { return false }
        self.waiting.append(commit)
        self.oldestQueued = min(self.oldestQueued ?? commit.arrived, commit.arrived)
        return true
    }

    /// Other rules are in force. A batch in flight was decided by the former ones, and is written as decided.
    package mutating func rulesChanged(_ rules: RulesTable) {
        self.rules = rules
    }

    /// True when ``next(at:)`` has a request.
    package var isWaiting: Bool {
        if case .idle = self.phase { return !self.queue.isEmpty || !self.waiting.isEmpty }
        return false
    }

    package var isEmpty: Bool { self.copies.isEmpty }

    package var oldestArrival: Instant? {
        var writing: Instant?
        if case .writing(let commits, _) = self.phase { writing = commits.lazy.map(\.arrived).min() }
        return [writing, self.queue.lazy.map(\.arrived).min(), self.waiting.oldestArrival].compactMap(\.self).min()
    }

    /// The arrival of the commit that has the next deadline; nil when there is none. Commits that wait for a read have none.
    private(set) var oldestQueued: Instant?

    private mutating func noteOldestQueued() {
        var reading = 0
        if case .loading(_, let count) = self.phase { reading = count }
        let chosen = self.queue.dropFirst(reading).lazy.map(\.arrived).min()
        self.oldestQueued = [chosen, self.waiting.oldestArrival].compactMap(\.self).min()
    }

    // MARK: Requests

    /// The next request; nil when there is none or one is in flight.
    /// - Parameter time: ms since 1970 by the host's clock: a batch is decided then.
    package mutating func next(at time: Double) -> Request? {
        guard self.isWaiting else { return nil }
        defer { self.noteOldestQueued() }
        // What a failed or divided batch has left goes first, alone: an undo must begin its batch, and would never come.
        if self.queue.isEmpty { self.fillQueue() }
        var count = min(self.queue.count, self.batchLimit)
        var needs = Needs(shard: self.shard, limits: self.limits)
        var index = 0
        while index < count {
            self.cache.collect(&self.queue[index], rules: self.rules, into: &needs)
            if index > 0, needs.hasOversized {
                // It may fit after those before it: it is judged on what they leave.
                count = index
                break
            }
            index += 1
            if needs.changes > min(self.limits.batchElements, self.limits.commitElements) { count = index }
        }
        guard let version = self.cache.version, needs.request.isEmpty else {
            self.phase = .loading(needs.request, count: count)
            return .load(needs.request)
        }
        var draft = BatchDraft(
            shard: self.shard, version: version, gseq: self.cache.gseq, chain: self.cache.chain, rules: self.rules,
            limits: self.limits, at: time, commits: count)
        var commits: [PreparedCommit] = []
        commits.reserveCapacity(count)
        for _ in 0..<count {
            let commit = self.queue.removeFirst()
            draft.decide(commit, cache: &self.cache)
            commits.append(commit)
        }
        self.phase = .writing(commits, draft)
        return .write(draft.batch)
    }

    /// The decisions on the traced commits of the batch in flight.
    package var tracedDecisions: [TraceMark] {
        guard case .writing(let commits, let draft) = self.phase, commits.contains(where: { $0.trace != nil }) else {
            return []
        }
        return draft.answers.compactMap { answer in
            answer.trace.map { TraceMark($0, .decided, answer.result, [.batch: "\(commits.count)"]) }
        }
    }

    /// Chooses the commits whose turn it is, as many as fit into a batch.
    private mutating func fillQueue() {
        var count = 0
        var bytes = 0
        var elements = 0
        self.waiting.take(into: &self.queue) { [limits = self.limits, limit = self.batchLimit] commit in
            if count > 0 {
                if count >= limit { return .full }
                if commit.edit.beginsBatch { return .notYet }
                let fits =
                    bytes + commit.size <= limits.batchBytes
                    && elements + commit.edit.elementCount <= limits.batchElements
                if !fits { return .full }
            }
            count += 1
            bytes += commit.size
            elements += commit.edit.elementCount
            return .taken
        }
    }

    // MARK: Answers of the database

    package mutating func stateLoaded(_ state: LoadedState) {
        guard case .loading(let request, _) = self.phase else { return }
        self.phase = .idle
        self.noteOldestQueued()
        self.failures = 0
        self.cache.merge(state, for: request)
    }

    package mutating func batchWritten() -> Settlement {
        guard case .writing(let commits, let draft) = self.phase else { return Settlement() }
        self.phase = .idle
        self.failures = 0
        self.batchLimit = min(self.limits.batchCommits, self.batchLimit * 2)
        self.cache.commit(draft)
        self.cache.trim()
        var settlement = Settlement()
        settlement.updates = draft.updates
        settlement.tally = draft.tally
        settlement.results = draft.answers
        settlement.arrivals.reserveCapacity(commits.count)
        for commit in commits {
            settlement.arrivals.append(commit.arrived)
            settlement.finish(commit)
        }
        self.forgetCopies(of: commits)
        return settlement
    }

    /// Nothing was written: the shard was at another version, or a session had a new owner.
    package mutating func batchStale() {
        guard case .writing(let commits, _) = self.phase else { return }
        self.putBack(commits)
        self.cache.clear()
    }

    /// The database may be on another history than the cached one: the cache is dropped. A request in flight continues:
    /// the version it is based on is compared on the write.
    package mutating func forget() {
        self.cache.clear()
    }

    package mutating func requestFailed(_ failure: RequestFailure, at now: Instant) -> Settlement {
        switch self.phase {
        case .idle:
            return Settlement()
        case .loading(_, let count):
            self.phase = .idle
            self.noteOldestQueued()
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
            self.backOff(at: now)
            if self.failures > 8 { self.batchLimit = max(1, count / 2) }
            return Settlement()
        case .data:
            return self.isolateFault(count: count)
        }
    }

    /// One commit of the batch contains data that the database rejects. The batch is halved until that commit is alone;
    /// it is then refused, and if even its refusal cannot be stored, answered without storing it.
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
        self.noteOldestQueued()
        self.release(commit, &settlement)
        settlement.tally.refused += 1
        settlement.results.append(CommitAnswer(to: commit, commit.result(refusal)))
        return settlement
    }

    /// Backs off, longer each time, and not in step with other shards.
    private mutating func backOff(at now: Instant) {
        let doubled = self.limits.shortestBackOff * (1 << UInt64(min(self.failures, 10)))
        let spread = UInt64((self.shard * 7 + self.failures * 5) % 16)
        self.failures += 1
        let backOff = min(doubled, self.limits.longestBackOff)
        self.backOffUntil = now + backOff + backOff * spread / 16
    }

    private mutating func putBack(_ commits: [PreparedCommit]) {
        self.phase = .idle
        self.queue.prepend(contentsOf: commits)
        self.noteOldestQueued()
    }

    // MARK: Deadlines

    /// Expires commits that have waited too long. One of unknown outcome gets no answer: it may be in the database, and
    /// its gateway will retry.
    package mutating func expire(at now: Instant) -> Settlement {
        var settlement = Settlement()
        guard let oldest = self.oldestQueued, self.isLate(oldest, now) else { return settlement }
        // What was read for them is not needed. While nothing can be written, nothing else trims the cache.
        defer { if case .idle = self.phase { self.cache.trim() } }
        for commit in self.removeLate(at: now) {
            self.release(commit, &settlement)
            if commit.isOutcomeUnknown {
                settlement.abandoned += 1
            } else {
                settlement.expired += 1
                let refusal = Refusal(
                    .unavailable, "The database did not store the commit in time.", retryAfterMs: 1000)
                settlement.results.append(CommitAnswer(to: commit, commit.result(refusal)))
            }
        }
        return settlement
    }

    /// Removes the commits past their deadline, except those that wait for a read.
    private mutating func removeLate(at now: Instant) -> [PreparedCommit] {
        var reading = 0
        if case .loading(_, let count) = self.phase { reading = count }
        var late: [PreparedCommit] = []
        for (index, commit) in exchange(&self.queue, with: []).enumerated() {
            if index >= reading, self.isLate(commit.arrived, now) {
                late.append(commit)
            } else {
                self.queue.append(commit)
            }
        }
        let deadline = self.limits.deadline
        defer { self.noteOldestQueued() }
        return late + self.waiting.removeAll { now >= $0.arrived + deadline }
    }

    private func isLate(_ arrived: Instant, _ now: Instant) -> Bool {
        now >= arrived + self.limits.deadline
    }

    private mutating func release(_ commit: PreparedCommit, _ settlement: inout Settlement) {
        self.copies.remove(commit.copy)
        settlement.finish(commit)
    }

    /// The commits of a batch leave, which mostly are all that there are.
    private mutating func forgetCopies(of commits: [PreparedCommit]) {
        if commits.count == self.copies.count { return self.copies.removeAll(keepingCapacity: true) }
        for commit in commits { self.copies.remove(commit.copy) }
    }
}
