package import Canvas
import DequeModule
package import Timing
package import Wire

/// The core of a committer: 64 ledgers and a few lanes to the database, each of which carries one request at a time.
///
/// Events come in, actions come out; the shell performs them in order.
///
/// Bounds: queued and in-flight commits are counted over all shards, in number and bytes; over either bound a commit is
/// refused as busy. While no lane is up the queue only fills and expires.
package struct Committer: Sendable {
    package enum Action: Equatable, Sendable {
        /// Read from the database on that lane.
        case load(lane: Int, LoadRequest)
        /// Write to the database on that lane.
        case write(lane: Int, ShardBatch)
        /// Send a result to the gateway of that name.
        case result(gateway: Identifier, CommitResult)
        /// Send an update to the fan-out of its shard.
        case publish(Update)
        /// Log a step of a traced commit.
        case traced(TraceMark)
    }

    private enum Lane: Sendable {
        case down
        case free
        case busy(shard: Int)
    }

    package private(set) var counters = CommitterCounters()
    /// The number of queued and in-flight commits, and their bytes.
    package private(set) var queuedCommits = 0, queuedBytes = 0

    /// The arrival of each commit that was answered after a write since the last ``drainAnswered(into:)``.
    private var answered: [Instant] = []
    /// The commits that left since the last ``drainFinished()``, by the link on which they arrived.
    private var finished: [UInt64: CommitLoad] = [:]

    private let limits: CommitterLimits
    private var ledgers: [ShardLedger]
    private var lanes: [Lane]
    /// Shards with a request to send, in order; each at most once.
    private var ready: Deque<Int> = []
    private var isReady: [Bool]
    /// Shards that back off until a time.
    private var backingOff: Set<Int> = []

    package init(lanes: Int, rules: RulesTable, limits: CommitterLimits = CommitterLimits()) {
        self.limits = limits
        self.ledgers = (0..<Shard.count).map { ShardLedger(shard: $0, rules: rules, limits: limits) }
        self.lanes = Array(repeating: .down, count: lanes)
        self.isReady = Array(repeating: false, count: Shard.count)
    }

    // MARK: Commits

    /// A commit arrived.
    /// - Parameters:
    ///   - size: its size in the queue, bytes.
    ///   - source: the link on which it arrived; ``drainFinished()`` reports when it has left.
    package mutating func commitReceived(
        _ commit: Commit, size: Int, source: UInt64 = 0, at now: Instant, into actions: inout [Action]
    ) {
        self.counters.received += 1
        guard self.queuedCommits < self.limits.queueCommits, self.queuedBytes + size <= self.limits.queueBytes else {
            self.counters.busy += 1
            self.finished[source, default: CommitLoad()].add(size)
            let refusal = Refusal(.busy, "Too many commits are waiting.", retryAfterMs: self.limits.retryAfterMs)
            self.answer(commit.gateway, CommitResult(refusing: commit, with: refusal), commit.trace, into: &actions)
            return
        }
        let shard = Shard.of(room: commit.room)
        let prepared = PreparedCommit(commit, size: size, arrived: now, source: source)
        guard self.ledgers[shard].admit(prepared) else {
            self.counters.repeated += 1
            self.finished[source, default: CommitLoad()].add(size)
            return
        }
        self.queuedCommits += 1
        self.queuedBytes += size
        self.consider(shard, at: now)
    }

    /// Assigns waiting requests to free lanes. Call it once after a series of other events.
    /// - Parameter time: ms since 1970 by the host's clock: what is decided is decided then.
    package mutating func dispatch(at time: Double, into actions: inout [Action]) {
        for lane in self.lanes.indices {
            guard case .free = self.lanes[lane] else { continue }
            guard let request = self.nextRequest(at: time) else { return }
            self.lanes[lane] = .busy(shard: request.shard)
            switch request.request {
            case .load(let load):
                self.counters.loads += 1
                actions.append(.load(lane: lane, load))
            case .write(let batch):
                actions.append(.write(lane: lane, batch))
                for mark in self.ledgers[request.shard].tracedDecisions { actions.append(.traced(mark)) }
            }
        }
    }

    private mutating func nextRequest(at time: Double) -> (shard: Int, request: ShardLedger.Request)? {
        while let shard = self.ready.popFirst() {
            self.isReady[shard] = false
            if let request = self.ledgers[shard].next(at: time) { return (shard, request) }
        }
        return nil
    }

    /// Enqueues a shard if it has a request to send.
    private mutating func consider(_ shard: Int, at now: Instant, first: Bool = false) {
        guard self.ledgers[shard].isWaiting, !self.isReady[shard] else { return }
        if self.ledgers[shard].backOffUntil > now {
            self.backingOff.insert(shard)
            return
        }
        self.isReady[shard] = true
        // A shard that has just read its state should write before that is outdated.
        if first { self.ready.prepend(shard) } else { self.ready.append(shard) }
    }

    /// Other rules are in force. They apply to what is decided from now on, also to batches that are decided again; an
    /// answer that was given already is given again as it was.
    package mutating func rulesChanged(_ rules: RulesTable) {
        for shard in self.ledgers.indices { self.ledgers[shard].rulesChanged(rules) }
    }

    // MARK: The database

    package mutating func connectionUp(lane: Int) {
        self.lanes[lane] = .free
    }

    /// The database may be on another history than before: all state is read again.
    package mutating func historyChanged() {
        for shard in self.ledgers.indices { self.ledgers[shard].forget() }
    }

    /// A lane's connection is lost, and with it the answer to its request.
    package mutating func connectionDown(lane: Int, at now: Instant, into actions: inout [Action]) {
        if case .busy(let shard) = self.lanes[lane] { self.lost(shard, at: now, into: &actions) }
        self.lanes[lane] = .down
    }

    package mutating func stateLoaded(lane: Int, _ state: LoadedState, at now: Instant) {
        guard let shard = self.freeLane(lane) else { return }
        self.ledgers[shard].stateLoaded(state)
        self.consider(shard, at: now, first: true)
    }

    /// A lane's write was answered: the batch is in the database, or nothing was written because it was decided on an
    /// outdated state (`isStale`).
    package mutating func batchWritten(lane: Int, isStale: Bool, at now: Instant, into actions: inout [Action]) {
        guard let shard = self.freeLane(lane) else { return }
        if isStale {
            self.counters.stale += 1
            self.ledgers[shard].batchStale()
        } else {
            self.counters.batches += 1
            self.settle(self.ledgers[shard].batchWritten(), into: &actions)
        }
        self.consider(shard, at: now)
    }

    /// A lane's request failed. The lane accepts the next one, unless its connection was lost too, which
    /// ``connectionDown(lane:at:into:)`` reports.
    package mutating func requestFailed(
        lane: Int, _ failure: RequestFailure, at now: Instant, into actions: inout [Action]
    ) {
        guard let shard = self.freeLane(lane) else { return }
        if failure == .lost { return self.lost(shard, at: now, into: &actions) }
        self.counters.failed += 1
        self.settle(self.ledgers[shard].requestFailed(failure, at: now), into: &actions)
        self.consider(shard, at: now)
    }

    private mutating func lost(_ shard: Int, at now: Instant, into actions: inout [Action]) {
        self.counters.lost += 1
        self.settle(self.ledgers[shard].requestFailed(.lost, at: now), into: &actions)
        self.consider(shard, at: now)
    }

    private mutating func freeLane(_ lane: Int) -> Int? {
        guard case .busy(let shard) = self.lanes[lane] else { return nil }
        self.lanes[lane] = .free
        return shard
    }

    private mutating func settle(_ settlement: ShardLedger.Settlement, into actions: inout [Action]) {
        self.queuedCommits -= settlement.commits
        self.queuedBytes -= settlement.bytes
        self.counters.add(settlement)
        self.answered += settlement.arrivals
        self.finished.merge(settlement.finished) { $0 + $1 }
        actions.reserveCapacity(actions.count + settlement.results.count + settlement.updates.count)
        for answer in settlement.results {
            self.answer(answer.gateway, answer.result, answer.trace, into: &actions)
        }
        for update in settlement.updates {
            actions.append(.publish(update))
        }
    }

    private func answer(
        _ gateway: Identifier, _ result: CommitResult, _ trace: TraceID?, into actions: inout [Action]
    ) {
        actions.append(.result(gateway: gateway, result))
        if let trace { actions.append(.traced(TraceMark(trace, .answered, result))) }
    }

    // MARK: Time

    /// Wakes shards whose back-off is over, and expires commits past their deadline.
    package mutating func timeReached(_ now: Instant, into actions: inout [Action]) {
        if self.queuedCommits > 0 {
            for shard in self.ledgers.indices where !self.ledgers[shard].isEmpty {
                self.settle(self.ledgers[shard].expire(at: now), into: &actions)
            }
        }
        let ready = self.backingOff.filter { self.ledgers[$0].backOffUntil <= now }
        self.backingOff.subtract(ready)
        for shard in ready.sorted() { self.consider(shard, at: now) }
    }

    /// When ``timeReached(_:into:)`` is due; nil: not before another event.
    package var nextDeadline: Instant? {
        var deadline = Instant.never
        for shard in self.backingOff { deadline = min(deadline, self.ledgers[shard].backOffUntil) }
        if self.queuedCommits > 0 {
            // By number: a ledger is large to copy.
            for shard in self.ledgers.indices {
                guard let arrival = self.ledgers[shard].oldestQueued else { continue }
                deadline = min(deadline, arrival + self.limits.deadline)
            }
        }
        return deadline == .never ? nil : deadline
    }

    // MARK: Inspection

    /// Moves out the arrivals of the commits that were answered since the last call.
    package mutating func drainAnswered(into arrivals: inout [Instant]) {
        arrivals.removeAll(keepingCapacity: true)
        swap(&arrivals, &self.answered)
    }

    /// Moves out the commits that left since the last call, by the link on which they arrived.
    package mutating func drainFinished() -> [UInt64: CommitLoad] {
        guard !self.finished.isEmpty else { return [:] }
        defer { self.finished.removeAll(keepingCapacity: true) }
        return self.finished
    }

    package var oldestArrival: Instant? {
        self.ledgers.indices.lazy.compactMap { self.ledgers[$0].oldestArrival }.min()
    }

    package var isIdle: Bool { self.queuedCommits == 0 }

    package var connectedLanes: Int {
        self.lanes.count { if case .down = $0 { false } else { true } }
    }
}

/// Why a request to the database failed.
package enum RequestFailure: Equatable, Sendable {
    /// It was rolled back and may succeed on a retry: a deadlock, a lock or statement timeout, no disk space.
    case transient
    /// It was rolled back because of its data: a value out of range, a violated constraint.
    case data
    /// The connection was lost, or the answer cannot be trusted: a write may or may not have been committed.
    case lost
}
