package import Timing

/// How long the event loop's next turn waits after one that accepted commits: not at all as a rule, but a fraction of a
/// millisecond while very many come, so that what comes meanwhile is handled in one turn, as network cards do it with
/// interrupts.
///
/// A turn costs a wake-up, a look at the clock and the mesh's envelopes, whatever it does.
package struct TurnPause {
    /// Turns with commits a second from which on the next one waits.
    private static let busyRate: UInt64 = 800
    /// Turns beyond that rate that run without a pause.
    private static let burst: UInt64 = 16
    private static let interval = Nanoseconds.seconds(1) / Self.busyRate

    /// The least time from one such turn to the next while many come.
    private let length: Nanoseconds
    /// When the turns so far would have been over at the busy rate.
    private var paidUntil = Instant.start
    private var turnedAt = Instant.start

    /// - Parameter length: zero for no pauses.
    package init(length: Nanoseconds) { self.length = length }

    /// A turn that accepted commits has ended: how long the next one waits.
    package mutating func turnEnded(at now: Instant) -> Nanoseconds {
        guard self.length > .zero else { return .zero }
        let allowed = now + Self.interval * Self.burst
        self.paidUntil = min(max(self.paidUntil, now) + Self.interval, allowed + Self.interval)
        let next = self.turnedAt + self.length
        guard self.paidUntil > allowed, next > now else {
            self.turnedAt = now
            return .zero
        }
        self.turnedAt = next
        return next.elapsed(since: now)
    }
}
