import DequeModule
import Timing
import Wire

/// A join that waits for the fan-out's answer.
struct PendingJoin {
    let slot: Slot
    /// The acknowledgement that the app asks for; nil for the handshake's room.
    let ackID: UInt64?
    let record: Join
    let wantsPreviews: Bool
    /// When its app is answered that the room cannot be read.
    let deadline: Instant
    /// When it was last sent; nil while it waits for its turn.
    fileprivate(set) var sentAt: Instant?

    var room: Identifier { self.record.room }
    /// The connection's id, since slots are reused.
    var connection: UInt64 { self.record.connection }
}

/// The joins that have no answer yet.
///
///     queued ──its turn, by rate──► sent ──answered──► ended
///                                   │  ▲ └──a second without an answer, or another fan-out──┐
///                                   │  └────────────────────────────────────────────────────┘
///                                   └──deadline──► ended
///
/// When all apps come back together, fan-outs and the database get their joins at a rate.
package struct Joins {
    private let limits: Limits
    private var pending: [UInt64: PendingJoin] = [:]
    /// Requests that wait for their turn, in order; one that ended meanwhile is stale.
    private var queue: Deque<UInt64> = []
    private var rate: TokenBucket
    /// How many joins of each connection have no answer. A connection that is gone has none: its joins are abandoned.
    private var open: [UInt64: Int] = [:]
    /// Joins refused as too many waited.
    private(set) var busyTotal: UInt64 = 0

    /// A join without an answer is sent again after that.
    private static let repetition = Nanoseconds.seconds(1)

    init(limits: Limits) {
        self.limits = limits
        self.rate = TokenBucket(capacity: limits.joinsPerSecond, perSecond: limits.joinsPerSecond, now: .start)
    }

    /// How many joins wait for an answer.
    package var count: Int { self.pending.count }

    /// How many of them wait for their turn.
    package var queuedCount: Int { self.queue.count }

    /// A join without an answer.
    subscript(request: UInt64) -> PendingJoin? { self.pending[request] }

    /// Refuses one more join of a connection when too many wait.
    mutating func checkRoom(for connection: UInt64) throws(Refusal) {
        guard self.open[connection, default: 0] < self.limits.rooms, self.count < self.limits.joinsWaiting else {
            self.busyTotal += 1
            throw Refusal(.busy, "Too many joins are waiting.", retryAfterMs: Limits.busyMs)
        }
    }

    /// Adds a join; it is sent when its turn has come.
    mutating func enqueue(_ record: Join, from slot: Slot, ackID: UInt64?, wantsPreviews: Bool, at now: Instant) {
        self.pending[record.request] = PendingJoin(
            slot: slot, ackID: ackID, record: record, wantsPreviews: wantsPreviews,
            deadline: now + self.limits.deadline)
        self.open[record.connection, default: 0] += 1
        self.queue.append(record.request)
    }

    /// Removes and returns the next join whose turn has come; nil when the rate allows none, or none waits.
    mutating func nextInTurn(at now: Instant) -> PendingJoin? {
        while let request = self.queue.first {
            guard let join = self.pending[request], self.open[join.connection] != nil else {
                self.queue.removeFirst()
                self.pending[request] = nil
                continue
            }
            guard self.rate.spend(at: now) else { return nil }
            self.queue.removeFirst()
            return join
        }
        return nil
    }

    /// A join was sent, for the first time or again.
    mutating func sent(_ join: PendingJoin, at now: Instant) {
        self.pending[join.record.request]?.sentAt = now
    }

    /// A join has its answer, or never will have one.
    mutating func end(_ request: UInt64) {
        guard let join = self.pending.removeValue(forKey: request), let count = self.open[join.connection] else {
            return
        }
        self.open[join.connection] = count > 1 ? count - 1 : nil
    }

    /// A connection is gone: nobody waits for its joins any more.
    mutating func connectionClosed(_ connection: UInt64) {
        self.open[connection] = nil
    }

    /// The joins that have been sent and not answered in these shards.
    func sent(in shards: Set<Int>) -> [PendingJoin] {
        self.pending.values.filter { $0.sentAt != nil && shards.contains(Shard.of(room: $0.room)) }
    }

    /// The joins whose deadline has come, and those to be sent again.
    func due(at now: Instant) -> [PendingJoin] {
        self.pending.values.filter { join in
            now >= join.deadline || join.sentAt.map { now >= $0 + Self.repetition } ?? false
        }
    }
}
