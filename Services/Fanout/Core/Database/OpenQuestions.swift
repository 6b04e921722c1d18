internal import Timing
internal import Wire

/// The questions that the database has not answered, and those to be asked again.
///
///     ask ──► open ──answered──► closed ──(it failed) retry──► waits for its time ──popRetry──► asked again
///               └──withdraw──► closed: a late answer means nothing
struct OpenQuestions: Sendable {
    enum Purpose: Equatable, Sendable {
        case heads
        /// Another name for the history.
        case epochMove
        /// The rows of a shard behind a gap.
        case shardLog(Int, after: UInt64)
        /// The page of a history that is under way.
        case history
        case room(Identifier, RoomPurpose)
    }

    /// What a room wants to know.
    enum RoomPurpose: Equatable, Sendable {
        case load
        /// What a gateway missed.
        case catchUp(GatewayID)
        /// What a joining connection missed, by the join's tag.
        case replay(UInt64)
        /// Whether a session is the joining user's, by the join's tag.
        case claim(UInt64)
    }

    private var purposes: [UInt64: Purpose] = [:]
    private var retries = DeadlineQueue<(room: Identifier, purpose: RoomPurpose)>()
    /// The tag of the last question; tags grow.
    private(set) var lastTag: UInt64 = 0

    /// When a question is to be asked again, ``Instant/never`` when none is.
    var nextRetry: Instant { self.retries.next }

    /// Asks, and returns the question's tag.
    @discardableResult
    mutating func ask(
        _ query: DatabaseRequest.Query, for purpose: Purpose, into actions: inout [FanoutAction]
    ) -> UInt64 {
        self.lastTag += 1
        self.purposes[self.lastTag] = purpose
        actions.append(.read(DatabaseRequest(tag: self.lastTag, query: query)))
        return self.lastTag
    }

    /// What a question is for; nil when it was withdrawn or answered.
    func purpose(of tag: UInt64) -> Purpose? { self.purposes[tag] }

    /// Closes a question; nil when it was withdrawn or answered before.
    mutating func answered(_ tag: UInt64) -> Purpose? {
        self.purposes.removeValue(forKey: tag)
    }

    mutating func withdraw(_ tag: UInt64) { self.purposes.removeValue(forKey: tag) }

    /// Remembers what a room must ask again.
    mutating func retry(_ purpose: RoomPurpose, of room: Identifier, at deadline: Instant) {
        self.retries.set((room, purpose), at: deadline)
    }

    mutating func popRetry(at now: Instant) -> (room: Identifier, purpose: RoomPurpose)? {
        self.retries.popDue(at: now)
    }
}
