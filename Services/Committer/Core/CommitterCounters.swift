package struct CommitterCounters: Equatable, Sendable {
    package internal(set) var received = 0
    /// Commits received while a copy was already queued.
    package internal(set) var repeated = 0
    /// Commits refused because the queue was full.
    package internal(set) var busy = 0
    /// Commits answered `unavailable` after their deadline.
    package internal(set) var expired = 0
    /// Commits of unknown outcome that expired without an answer.
    package internal(set) var abandoned = 0
    /// The decisions that the database confirmed.
    package internal(set) var tally = DecisionTally()
    package internal(set) var batches = 0
    /// Batches that were decided on an outdated state.
    package internal(set) var stale = 0
    package internal(set) var loads = 0
    /// Requests that the database rolled back.
    package internal(set) var failed = 0
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
        self.overRoomElements += other.overRoomElements
        self.overRoomBytes += other.overRoomBytes
        self.overAnnotations += other.overAnnotations
        self.overCommitElements += other.overCommitElements
        self.unchanged += other.unchanged
        self.duplicates += other.duplicates
        self.conflicts += other.conflicts
        self.gaps += other.gaps
        self.expired += other.expired
        self.foundWritten += other.foundWritten
        self.foundLost += other.foundLost
    }
}
