import Canvas
package import Wire

package struct CommitAnswer: Equatable, Sendable {
    package var gateway: Identifier
    package var result: CommitResult
    package var trace: TraceID?

    /// The answer to a commit, for the gateway that sent it.
    init(to commit: PreparedCommit, _ result: CommitResult) {
        self.gateway = commit.gateway
        self.result = result
        self.trace = commit.trace
    }
}

/// A batch under construction: commits decided one after the other, each on top of the previous ones. Nothing is
/// visible outside until the database has committed the batch.
struct BatchDraft: Sendable {
    /// So many bytes in the log count like one more element: elements are stored whole, before and after.
    private static let bytesForOne = 2048

    let rules: RulesTable
    let limits: CommitterLimits
    /// When it is decided: ms since 1970 by the host's clock. Motions that it starts begin then.
    let time: Double
    private(set) var rows: BatchRows
    private(set) var answers: [CommitAnswer] = []
    private(set) var updates: [Update] = []
    private(set) var tally = DecisionTally()

    /// The number of living annotations of elements that get or lose some, as far as it is known.
    private(set) var annotations: [ElementKey: Int] = [:]
    /// Only searched for a repetition in the same batch, which is rare; hence a list.
    private var outcomes: [(key: CommitKey, outcome: StoredOutcome)] = []

    /// An empty batch on top of the cached state, with capacity for a number of commits.
    init(
        shard: Int, version: UInt64, gseq: UInt64, chain: UInt64, rules: RulesTable, limits: CommitterLimits,
        at time: Double, commits: Int = 0
    ) {
        self.rules = rules
        self.limits = limits
        self.time = time
        var batch = ShardBatch(shard: shard, version: version, gseq: gseq, chain: chain)
        batch.userSessions = limits.userSessions
        self.rows = BatchRows(batch, commits: commits)
        self.answers.reserveCapacity(commits)
        self.updates.reserveCapacity(commits)
        self.outcomes.reserveCapacity(commits)
    }

    var batch: ShardBatch { self.rows.batch }

    // MARK: One commit

    /// Decides a commit. The cache must contain everything that it needs.
    mutating func decide(_ commit: PreparedCommit, cache: inout ShardCache) {
        guard (1...PreparedCommit.largestNumber).contains(commit.number) else {
            self.answer(commit, Refusal(.invalid, "A commit's number is 1, 2, 3 … up to 2^53 − 1.", field: "n"))
            return
        }
        guard let stream = self.stream(of: commit, &cache), commit.sessionEpoch == stream.sessionEpoch else {
            self.answer(commit, Refusal(.sessionExpired, "The session is unknown, taken over or another user's."))
            return
        }
        if commit.number <= stream.highest || self.isEvictedRequest(commit, cache) {
            if commit.isOutcomeUnknown { self.tally.foundWritten += 1 }
            self.repeated(commit, &cache)
        } else if commit.number > stream.highest + 1, SessionKey.isApp(commit.stream.session) {
            self.tally.gaps += 1
            let expected = stream.highest + 1
            self.answer(commit, Refusal(.gap, "A commit before this one is missing.", expected: expected))
        } else {
            if commit.isOutcomeUnknown { self.tally.foundLost += 1 }
            self.next(commit, stream, &cache)
        }
    }

    /// Whether the log has a request over HTTP whose stream was evicted: its name is used for nothing else.
    private func isEvictedRequest(_ commit: PreparedCommit, _ cache: ShardCache) -> Bool {
        SessionKey.isHTTP(commit.stream.session) && self.earlierOutcome(of: commit, cache) != nil
    }

    /// The commit's stream; nil when it is not this user's.
    private mutating func stream(of commit: PreparedCommit, _ cache: inout ShardCache) -> StreamState? {
        if let state = self.rows.stream(commit.stream) { return state.user == commit.user ? state : nil }
        let known = cache.streams.use(commit.stream)
        if let state = known?.state { return state.user == commit.user ? state : nil }
        // A resumed session has a row: without one it has been swept, and its numbers are unknown. A stream that
        // the gateway numbers has the claim in its name, so each owner's begins without a row.
        let isFresh =
            (commit.sessionEpoch <= 1 || !SessionKey.isApp(commit.stream.session))
            && !SessionKey.isOlder(commit.stream.session, than: cache.sessionFloor)
            && known?.isEvicted != true
        return isFresh ? StreamState(user: commit.user, highest: 0, sessionEpoch: commit.sessionEpoch) : nil
    }

    /// Handles the next number: the commit is applied or finally refused, and the number is used up either way.
    private mutating func next(_ commit: PreparedCommit, _ stream: StreamState, _ cache: inout ShardCache) {
        var cost = commit.edit.elementCount
        do throws(Refusal) {
            let change = try self.change(commit, &cache)
            cost = max(cost, change.entries.count)
            let growth = try self.growth(of: change, in: commit.room, &cache)
            var room = self.storedRoom(commit.room, &cache)
            let seq = room.seq
            if change.entries.isEmpty {
                self.leaveUnchanged(commit, seq: seq)
            } else {
                let link = self.push(change, of: commit, seq: seq + 1, &cache)
                room = StoredRoom(seq: seq + 1, totals: room.totals + growth.totals)
                self.rows.note(room, for: commit.room)
                self.apply(change, commit, seq: seq + 1, link)
                self.note(growth, &cache)
            }
        } catch {
            self.refuse(commit, error, cost: max(cost, error.entry?.elements.count ?? 0))
        }
        self.rows.use(up: commit.number, of: commit.stream, stream)
    }

    /// Puts a change on the stack that it belongs to.
    /// - Returns: its place there; nil when it is on none.
    private mutating func push(
        _ change: Change, of commit: PreparedCommit, seq: UInt64, _ cache: inout ShardCache
    ) -> UndoLink? {
        var stacks = self.stacks(of: commit.owner, &cache)
        let link = stacks.push(change, of: commit, seq: seq, limits: self.limits)
        self.keep(stacks, of: commit.owner, &cache)
        return link
    }

    /// What a user can undo and redo from now on, whatever becomes of the commit.
    mutating func keep(_ stacks: UndoStacks, of user: UserKey, _ cache: inout ShardCache) {
        if stacks != self.stacks(of: user, &cache) { self.rows.keep(stacks, of: user) }
    }

    /// - Parameter cost: how many elements were looked at in vain.
    private mutating func refuse(_ commit: PreparedCommit, _ refusal: Refusal, cost: Int) {
        self.tally.refused += 1
        self.leave(commit, .refused(refusal))
        self.answer(commit, refusal, cost: cost)
    }

    /// Nothing was left to undo: the commit has no number in the room's order.
    private mutating func leaveUnchanged(_ commit: PreparedCommit, seq: UInt64) {
        self.tally.unchanged += 1
        self.leave(commit, .unchanged(seq: seq))
        self.answer(commit, seq: seq, json: AppliedOutcome.unchanged(seq: seq, isDuplicate: false))
    }

    private mutating func leave(_ commit: PreparedCommit, _ outcome: ShardBatch.RefusalRow.Outcome) {
        self.rows.refuse(commit, outcome)
        self.outcomes.append((commit.key, StoredOutcome(.unapplied(outcome), hash: commit.hash)))
    }

    private mutating func change(_ commit: PreparedCommit, _ cache: inout ShardCache) throws(Refusal) -> Change {
        switch commit.edit.request {
        case .edit(let edit): return try edit.decide(commit, in: &self, &cache)
        case .refused(let refusal): throw refusal
        }
    }

    private mutating func repeated(_ commit: PreparedCommit, _ cache: inout ShardCache) {
        let earlier = self.earlierOutcome(of: commit, cache)
        guard let earlier, earlier.hash == commit.hash else {
            self.tally.conflicts += 1
            let message =
                earlier == nil
                ? "The outcome of this old number is no longer kept." : "The number was used for another commit."
            self.answer(commit, Refusal(.conflict, message, field: "n"))
            return
        }
        self.tally.duplicates += 1
        switch earlier.ending {
        case .applied(let applied):
            self.answer(commit, seq: applied.seq, json: applied.acknowledgement(isDuplicate: true))
        case .unapplied(.refused(let refusal)):
            self.answer(commit, refusal)
        case .unapplied(.unchanged(let seq)):
            self.answer(commit, seq: seq, json: AppliedOutcome.unchanged(seq: seq, isDuplicate: true))
        }
    }

    private func earlierOutcome(of commit: PreparedCommit, _ cache: ShardCache) -> StoredOutcome? {
        self.outcomes.first { $0.key == commit.key }?.outcome ?? cache.outcome(commit.key)
    }

    // MARK: Effects

    /// Records a change under the next numbers.
    private mutating func apply(_ change: Change, _ commit: PreparedCommit, seq: UInt64, _ link: UndoLink?) {
        let chained = self.rows.advance(over: commit, seq: seq)
        for entry in change.entries {
            self.rows.write(entry, seq: seq)
        }
        var elements = change.updatedElements
        elements.end(commit.gestures)
        let adjusted = change.adjustedText
        self.rows.log(change, commit, seq: seq, link, adjusted: adjusted)
        self.updates.append(
            Update(
                shard: UInt8(truncatingIfNeeded: self.rows.batch.shard), gseq: self.rows.batch.gseq, room: commit.room,
                seq: seq,
                event: change.event, user: commit.user, sid: SessionKey.sid(of: commit.stream.session),
                number: SessionKey.isApp(commit.stream.session) ? commit.number : 0, link: chained,
                chain: self.rows.batch.chain, elements: elements, cause: change.cause, trace: commit.trace))
        let outcome = AppliedOutcome(
            seq: seq, event: change.event, elements: elements, adjusted: adjusted, undone: change.undone?.entry)
        self.tally.applied += 1
        self.outcomes.append((commit.key, StoredOutcome(.applied(outcome), hash: commit.hash)))
        let cost = max(change.entries.count, self.rows.lastLogBytes / Self.bytesForOne)
        self.answer(commit, seq: seq, json: outcome.acknowledgement(isDuplicate: false), cost: cost)
    }

    /// Updates what is known of the annotations of elements that get or lose some, which need not be written themselves.
    private mutating func note(_ growth: RoomGrowth, _ cache: inout ShardCache) {
        for (parent, family) in growth.families {
            if let count = self.annotations(of: parent, &cache) { self.annotations[parent] = count + family.count }
            guard case .live(let live) = self.state(parent, &cache), let children = live.children else { continue }
            self.rows.note(.live(live.with(children: family.applied(to: children))), for: parent)
        }
    }

    mutating func count(_ limit: RoomLimit) {
        switch limit {
        case .elements: self.tally.overRoomElements += 1
        case .bytes: self.tally.overRoomBytes += 1
        case .annotations: self.tally.overAnnotations += 1
        case .commit: self.tally.overCommitElements += 1
        }
    }

    private mutating func answer(_ commit: PreparedCommit, _ refusal: Refusal, cost: Int = 0) {
        if refusal.code == .sessionExpired { self.tally.expired += 1 }
        self.answers.append(CommitAnswer(to: commit, commit.result(refusal, cost: cost)))
    }

    private mutating func answer(_ commit: PreparedCommit, seq: UInt64, json: [UInt8], cost: Int = 0) {
        let result = commit.result(seq: seq, json: json, cost: cost)
        self.answers.append(CommitAnswer(to: commit, result))
    }

    // MARK: Looking up

    /// What a user can undo and redo in the batch so far.
    private func stacks(of user: UserKey, _ cache: inout ShardCache) -> UndoStacks {
        self.rows.stacks(of: user) ?? cache.stacks.use(user) ?? UndoStacks()
    }

    /// The change that a commit makes if it is applied next.
    mutating func mark(of commit: PreparedCommit, _ cache: inout ShardCache) -> ChangeMark {
        ChangeMark(user: commit.user, seq: self.storedRoom(commit.room, &cache).seq + 1)
    }

    mutating func storedRoom(_ room: Identifier, _ cache: inout ShardCache) -> StoredRoom {
        self.rows.room(room) ?? cache.rooms.use(room) ?? StoredRoom()
    }

    /// The number of an element's living annotations in the batch so far; nil when unknown.
    mutating func annotations(of key: ElementKey, _ cache: inout ShardCache) -> Int? {
        self.annotations[key] ?? cache.annotations.use(key)?.count
    }

    mutating func state(_ key: ElementKey, _ cache: inout ShardCache) -> ElementState {
        self.rows.element(key) ?? cache.elements.use(key) ?? .absent
    }
}

package struct DecisionTally: Equatable, Sendable {
    package var applied = 0
    /// Commits that were finally refused.
    package var refused = 0
    /// Those of them that would have brought a room over its number of elements.
    package var overRoomElements = 0
    /// Over its bytes.
    package var overRoomBytes = 0
    /// That would have brought an element over its number of annotations.
    package var overAnnotations = 0
    /// That would have changed more elements than one commit may.
    package var overCommitElements = 0
    /// Undos and redos for which nothing was left.
    package var unchanged = 0
    /// Repetitions that got the first result again.
    package var duplicates = 0
    /// Old numbers under another body.
    package var conflicts = 0
    /// Numbers that skipped others.
    package var gaps = 0
    /// Commits of a former owner of the session, or of another user.
    package var expired = 0
    /// Commits of unknown outcome that were found in the database.
    package var foundWritten = 0
    /// Commits of unknown outcome that were not found there.
    package var foundLost = 0
}
