internal import Timing
internal import Wire

/// When rooms must be reviewed. An entry is a hint: the room knows whether anything has come due.
struct RoomDeadlines: Sendable {
    /// What to review, in the order in which it is reviewed when all of it is due.
    enum Kind: Int, CaseIterable, Sendable {
        /// Joins that waited too long.
        case joins
        /// Reads that waited too long for the room to be loaded.
        case reads
        /// Reads that waited long enough for an update.
        case followers
        /// Joins that wait for an update: perhaps it is proven that there is none.
        case proofs
        /// Previews that waited too long for an update.
        case early
        /// A room that moved: perhaps all gateways that were to follow are here.
        case members
        /// A room that was idle for a while.
        case idle
    }

    /// One for each kind, whose deadlines all lie equally far ahead.
    private var queues = Kind.allCases.map { _ in DeadlineQueue<Identifier>() }

    /// The earliest deadline, ``Instant/never`` when there is none.
    var next: Instant { self.queues.reduce(.never) { min($0, $1.next) } }

    mutating func set(_ kind: Kind, for room: Identifier, at deadline: Instant) {
        self.queues[kind.rawValue].set(room, at: deadline)
    }

    mutating func popDue(at now: Instant) -> (kind: Kind, room: Identifier)? {
        for kind in Kind.allCases {
            if let room = self.queues[kind.rawValue].popDue(at: now) { return (kind, room) }
        }
        return nil
    }
}
