/// What a committer did since its start.
package struct CommitterCounters: Equatable, Sendable {
    /// Commits that came.
    package internal(set) var received = 0
    /// Commits of which a copy waited already.
    package internal(set) var repeated = 0
    /// Commits refused because the queue was full.
    package internal(set) var busy = 0
    /// Commits answered `unavailable` after their deadline.
    package internal(set) var expired = 0
    /// Commits of unknown outcome given up without an answer.
    package internal(set) var abandoned = 0
    /// How the decisions went that the database confirmed.
    package internal(set) var tally = DecisionTally()
    /// Batches written.
    package internal(set) var batches = 0
    /// Batches that were decided from a state that was no longer.
    package internal(set) var stale = 0
    /// Reads asked for.
    package internal(set) var loads = 0
    /// Requests that the database rolled back.
    package internal(set) var failed = 0
    /// Requests whose answer never came.
    package internal(set) var lost = 0

    mutating func add(_ settlement: ShardLedger.Settlement) {
        self.expired += settlement.expired
        self.abandoned += settlement.abandoned
        self.tally.add(settlement.tally)
    }
}

extension DecisionTally {
    mutating func add(_ other: DecisionTally) {
        self.applied += other.applied
        self.refused += other.refused
        self.duplicates += other.duplicates
        self.conflicts += other.conflicts
        self.gaps += other.gaps
        self.expired += other.expired
        self.foundWritten += other.foundWritten
        self.foundLost += other.foundLost
    }
}
