package import Timing

/// Decides when a committer rests, so that senders prefer other committers: from its start until its first connection
/// to the database, and again when it has had none for a while.
///
/// Not immediately: a server that is back soon, as after a failover, is waited for. While all committers rest, senders
/// use them nevertheless, so that commits wait for the database and are not refused.
package struct RestClock: Sendable {
    /// How long a committer without a connection keeps serving.
    package static let patience = Nanoseconds.seconds(1)

    private var restsFrom: Instant? = .start

    package init() {}

    package mutating func observe(connections: Int, at now: Instant) {
        if connections > 0 {
            self.restsFrom = nil
        } else if self.restsFrom == nil {
            self.restsFrom = now + Self.patience
        }
    }

    /// True while others should do the work.
    package func isResting(at now: Instant) -> Bool { self.restsFrom.map { now >= $0 } ?? false }

    /// When it starts to rest if nothing changes; nil when it will not, or already does.
    package func deadline(after now: Instant) -> Instant? { self.restsFrom.flatMap { $0 > now ? $0 : nil } }
}
