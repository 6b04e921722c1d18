package import Timing

/// When a committer rests, which is to say that others should be asked to do its work: from its start until it has its
/// first connection to the database, and again when it has had none for a while.
///
/// Not at once: a server that is back in a moment, as after a failover, is waited for. While all committers rest they
/// are asked all the same, so that commits wait for the database and are not refused.
package struct RestClock: Sendable {
    /// How long a committer without a connection goes on as if it had one.
    package static let patience = Nanoseconds.seconds(1)

    private var restsFrom: Instant? = .start

    /// A committer that has just started.
    package init() {}

    /// Tells how many connections there are now.
    package mutating func observe(connections: Int, at now: Instant) {
        if connections > 0 {
            self.restsFrom = nil
        } else if self.restsFrom == nil {
            self.restsFrom = now + Self.patience
        }
    }

    /// True while others should do the work.
    package func isResting(at now: Instant) -> Bool { self.restsFrom.map { now >= $0 } ?? false }

    /// When it begins to rest if nothing changes; nil when it will not, or does already.
    package func deadline(after now: Instant) -> Instant? { self.restsFrom.flatMap { $0 > now ? $0 : nil } }
}
