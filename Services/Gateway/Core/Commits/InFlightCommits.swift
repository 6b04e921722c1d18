package import Timing
package import Wire

/// The commits of this gateway that have no result yet. Each is kept, and sent again, until its result comes; one that an app
/// or a request numbered, until its deadline at the latest.
///
///     accepted ──► sent ──────────────► ended by its result
///        │          ▲ └► sent again ──► or at its deadline
///        └──► held ─┘ no credit: sent in order as credit comes back
///
/// A stage behind that is slow gives no more credit. Commits then wait here, where they have to be kept anyway; when
/// too many are in flight, apps are asked to try again. So nothing piles up anywhere and nothing is lost.
package struct InFlightCommits {
    /// What one user's commits without a number of the app's take up: those that wait, and those without a result, for which
    /// there is no deadline.
    private struct Backlog {
        var count = 0, bytes = 0
    }

    private let limits: GatewayLimits
    private var commits: [InFlightKey: InFlightCommit] = [:]
    /// Nothing is due before it.
    private var dueAt = Instant.never
    private var held = HeldCommits()
    /// Commits outside that are counted here because they wait for their turn.
    package private(set) var reservedCount = 0
    /// By user; what closed connections left behind is included.
    private var backlogs: [Identifier: Backlog] = [:]
    /// The part of the bounds that one user's backlog may take up.
    private static let userPart = 8
    /// Bytes of all commits, the reserved ones included.
    package private(set) var bytes = 0
    /// How many commits were accepted, refused as there was no room, sent again, and held for credit.
    package private(set) var acceptedTotal: UInt64 = 0, busyTotal: UInt64 = 0
    package private(set) var resentTotal: UInt64 = 0, heldTotal: UInt64 = 0

    /// The least pause before a commit is sent again that was answered too early.
    private static let recheck = Nanoseconds.milliseconds(50)

    init(limits: GatewayLimits) { self.limits = limits }

    /// How many commits wait for a result.
    package var count: Int { self.commits.count }

    /// How many of them wait for credit.
    package var heldCount: Int { self.held.count }

    /// True when nothing waits for a result, nor for its turn before it comes here.
    package var isEmpty: Bool { self.commits.isEmpty && self.reservedCount == 0 }

    subscript(key: InFlightKey) -> InFlightCommit? { self.commits[key] }

    package func oldestAge(at now: Instant) -> Nanoseconds {
        self.commits.values.map(\.acceptedAt).min().map { now.elapsed(since: $0) } ?? .zero
    }

    // MARK: Room

    /// Refuses one more commit of that many bytes when there is no room for it, or when its user has a long backlog: a user
    /// could open and close connections that leave their commits behind, until there is no room for anybody's.
    mutating func requireCapacity(for bytes: Int, of user: Identifier?) throws(Refusal) {
        if !self.backlogs.isEmpty, let backlog = user.flatMap({ self.backlogs[$0] }),
            backlog.count >= max(1, self.limits.inFlightCommits / Self.userPart)
                || backlog.bytes >= self.limits.inFlightBytes / Self.userPart
        {
            self.busyTotal += 1
            throw Refusal(.busy, "Too many commits of this user are waiting.", retryAfterMs: GatewayLimits.busyMs)
        }
        guard self.commits.count + self.reservedCount < self.limits.inFlightCommits,
            self.bytes + bytes <= self.limits.inFlightBytes || self.bytes == 0
        else {
            self.busyTotal += 1
            throw Refusal(.busy, "Too many commits are waiting.", retryAfterMs: GatewayLimits.busyMs)
        }
    }

    /// Counts a commit that waits for its turn before it comes here.
    mutating func reserve(_ commit: Commit) {
        self.reservedCount += 1
        self.bytes += commit.edit.weight
        self.addToBacklog(commit)
    }

    mutating func unreserve(_ commit: Commit) {
        self.reservedCount -= 1
        self.bytes -= commit.edit.weight
        self.removeFromBacklog(commit)
    }

    private mutating func addToBacklog(_ commit: Commit) {
        // Read and written: to change it in place would allocate.
        let backlog = self.backlogs[commit.user] ?? Backlog()
        self.backlogs[commit.user] = Backlog(count: backlog.count + 1, bytes: backlog.bytes + commit.edit.weight)
    }

    private mutating func removeFromBacklog(_ commit: Commit) {
        guard let index = self.backlogs.index(forKey: commit.user) else { return }
        self.backlogs.values[index].count -= 1
        self.backlogs.values[index].bytes -= commit.edit.weight
        if self.backlogs.values[index].count == 0 { self.backlogs.remove(at: index) }
    }

    // MARK: In and out

    /// Accepts a commit and sends it, unless others of its shard wait for credit.
    /// - Returns: the copy that it replaces, which an older owner of the session sent.
    mutating func accept(
        _ commit: Commit, from origin: InFlightCommit.Origin, at now: Instant, into actions: inout [GatewayAction]
    ) -> InFlightCommit? {
        let key = InFlightKey(commit)
        var pending = InFlightCommit(commit: commit, origin: origin, at: now, within: self.limits.deadline)
        self.bytes += pending.weight
        self.acceptedTotal += 1
        if pending.isFollowed { self.addToBacklog(commit) }
        let shard = Shard.of(room: commit.room)
        for end in commit.gestureEnds(by: commit.connection) { actions.append(.previewsEnd(shard: shard, end)) }
        if self.held.areWaiting(in: shard) {
            self.hold(&pending, key, in: shard)
        } else {
            self.send(&pending, shard: shard, at: now, into: &actions)
        }
        guard let older = self.commits.updateValue(pending, forKey: key) else { return nil }
        self.forget(older)
        self.commits[key]?.inherit(older)
        return older
    }

    /// An event sends a commit that is in flight already: it waits for that one's result.
    /// - Throws: when the number stands for another body, or too many wait.
    mutating func addCopy(_ key: InFlightKey, bodyHash: UInt64, from origin: InFlightCommit.Origin) throws(Refusal) {
        guard self.commits[key]?.commit.edit.bodyHash == bodyHash else {
            throw Refusal(.conflict, "This number was sent with another body.", field: "n")
        }
        try self.commits[key]?.addCopy(origin)
    }

    /// A result came.
    /// - Returns: the commit, which it ends; nil when there is none, or when it is sent again.
    mutating func resultReceived(_ result: CommitResult, at now: Instant) -> InFlightCommit? {
        let key = InFlightKey(room: result.room, session: result.session, number: result.number)
        guard let index = self.commits.index(forKey: key) else { return nil }
        let pending = self.commits.values[index]
        if Self.isOfAnother(result, than: pending) { return nil }
        if let refusal = result.refusal {
            // It is for a copy that the app sent on an earlier connection.
            if refusal.code == .sessionExpired, result.connection != pending.commit.connection { return nil }
            if refusal.code.isRetriable, self.retries(key, pending, refusal, at: now) { return nil }
        }
        return self.end(at: index)
    }

    /// True for the late result of a commit whose number, or `Idempotency-Key`, was used for another body since. The gateway
    /// uses none of its numbers twice, and to compare bodies is dear.
    private static func isOfAnother(_ result: CommitResult, than pending: InFlightCommit) -> Bool {
        result.bodyHash != 0 && !pending.isFollowed && pending.commit.edit.bodyHash != result.bodyHash
    }

    mutating func end(_ key: InFlightKey) -> InFlightCommit? {
        self.commits.index(forKey: key).map { self.end(at: $0) }
    }

    private mutating func end(at index: Dictionary<InFlightKey, InFlightCommit>.Index) -> InFlightCommit {
        let pending = self.commits.remove(at: index).value
        self.forget(pending)
        return pending
    }

    private mutating func forget(_ pending: InFlightCommit) {
        self.bytes -= pending.weight
        if pending.isFollowed { self.removeFromBacklog(pending.commit) }
        if let place = pending.heldPlace { self.held.remove(place, in: Shard.of(room: pending.commit.room)) }
    }

    /// What the gateway itself tries again: commits that it numbered, and commits that wait for one in flight.
    private mutating func retries(
        _ key: InFlightKey, _ pending: InFlightCommit, _ refusal: Refusal, at now: Instant
    ) -> Bool {
        switch refusal.code {
        case .gap:
            guard let expected = refusal.expected, expected < key.number else { return false }
            let missing = InFlightKey(room: key.room, session: key.session, number: expected)
            guard let earlier = self.commits[missing] else { return false }
            if earlier.sendAgainAt > now + Self.recheck { self.sendAgain(missing, at: now) }
            self.sendAgain(key, at: now + Self.recheck * 2)
            return true
        case .sessionExpired:
            // Perhaps it is for a copy that was sent before the session got its newest owner.
            guard pending.olderCopies > 0 else { return false }
            self.commits[key]?.olderCopies -= 1
            self.sendAgain(key, at: now + Self.recheck)
            return true
        case .busy, .unavailable, .rateLimited:
            guard !pending.commit.isNumberedByApp else { return false }
            let pause = Nanoseconds.milliseconds(UInt64(refusal.retryAfterMs ?? 200))
            self.sendAgain(key, at: now + max(Self.recheck, pause))
            return true
        default:
            return false
        }
    }

    // MARK: Sending

    /// A committer of these shards came or went away: their commits go out again.
    package mutating func linksChanged(shards: Set<Int>, at now: Instant, into actions: inout [GatewayAction]) {
        for shard in shards {
            for key in self.held.removeAll(in: shard) { self.commits[key]?.heldPlace = nil }
        }
        for key in self.commits.keys.sorted(by: { $0.number < $1.number })
        where shards.contains(Shard.of(room: key.room)) {
            self.dispatch(key, at: now, into: &actions)
        }
    }

    /// Sends again what has no result yet. It looks through all of them, so not before something may be due.
    /// - Returns: the commits whose deadline has come.
    mutating func timeReached(_ now: Instant, into actions: inout [GatewayAction]) -> [InFlightKey] {
        guard now >= self.dueAt else { return [] }
        var due: [InFlightKey] = []
        var late: [InFlightKey] = []
        self.dueAt = .never
        for (key, pending) in self.commits {
            if now < pending.dueAt {
                self.watch(pending)
            } else if now >= pending.deadline {
                late.append(key)
            } else {
                due.append(key)
            }
        }
        for key in due.sorted(by: { $0.number < $1.number }) { self.dispatch(key, at: now, into: &actions) }
        return late
    }

    /// Sends a commit, behind those of its shard that wait for credit.
    private mutating func dispatch(_ key: InFlightKey, at now: Instant, into actions: inout [GatewayAction]) {
        let shard = Shard.of(room: key.room)
        guard var pending = self.commits[key] else { return }
        if self.held.areWaiting(in: shard) {
            self.hold(&pending, key, in: shard)
        } else {
            self.send(&pending, shard: shard, at: now, into: &actions)
        }
        self.commits[key] = pending
    }

    private mutating func send(
        _ pending: inout InFlightCommit, shard: Int, at now: Instant, into actions: inout [GatewayAction]
    ) {
        if pending.attempts > 0 { self.resentTotal += 1 }
        pending.attempt(at: now)
        self.watch(pending)
        actions.append(.commit(shard: shard, pending.commit))
    }

    private mutating func sendAgain(_ key: InFlightKey, at time: Instant) {
        self.commits[key]?.sendAgainAt = time
        self.dueAt = min(self.dueAt, time)
    }

    /// Looks at all of them again when this commit is due.
    private mutating func watch(_ pending: InFlightCommit) {
        self.dueAt = min(self.dueAt, pending.dueAt)
    }

    // MARK: Credit

    /// The shell had no credit for a commit that it had to send: it waits.
    package mutating func commitNotSent(_ commit: Commit) {
        let key = InFlightKey(commit)
        guard var pending = self.commits[key] else { return }
        pending.attemptFailed()
        self.hold(&pending, key, in: Shard.of(room: commit.room))
        self.commits[key] = pending
    }

    /// Sends the next commit that waits for credit and may have some, shard by shard by turns: each is sent before the
    /// next one is asked for, as it may use up the last credit.
    /// - Parameters:
    ///   - shard: the shard whose turn was last, nil at first.
    ///   - hasCredit: whether a commit of the shard may go now.
    /// - Returns: the commit's shard; nil when none may go.
    package mutating func sendNextHeld(
        after shard: Int?, at now: Instant, into actions: inout [GatewayAction], hasCredit: (Int) -> Bool
    ) -> Int? {
        guard self.held.count > 0 else { return nil }
        for step in 1...Shard.count {
            let next = ((shard ?? -1) + step) % Shard.count
            guard self.held.areWaiting(in: next), hasCredit(next) else { continue }
            self.sendHeld(in: next, at: now, into: &actions)
            return next
        }
        return nil
    }

    /// There is credit for one more commit of a shard: the one that has waited longest goes.
    mutating func sendHeld(in shard: Int, at now: Instant, into actions: inout [GatewayAction]) {
        guard let key = self.held.first(in: shard), var pending = self.commits[key],
            let place = pending.heldPlace.take()
        else { return }
        self.held.remove(place, in: shard)
        self.send(&pending, shard: shard, at: now, into: &actions)
        self.commits[key] = pending
    }

    private mutating func hold(_ pending: inout InFlightCommit, _ key: InFlightKey, in shard: Int) {
        pending.sendAgainAt = .never
        self.watch(pending)
        guard pending.heldPlace == nil else { return }
        // A copy that waits already leaves its place to this one.
        pending.heldPlace = self.commits[key]?.heldPlace.take() ?? self.held.append(key, in: shard)
        self.heldTotal += 1
    }
}
