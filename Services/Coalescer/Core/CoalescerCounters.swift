package import Timing

/// A ``Coalescer``'s counters since its start; monotonic.
package struct CoalescerCounters: Equatable, Sendable {
    /// Previews received.
    package var received: UInt64 = 0
    /// Previews sent.
    package var sent: UInt64 = 0
    /// Sent previews that did not wait because their room was quiet.
    package var sentAtOnce: UInt64 = 0
    /// Held previews that a newer one of their key replaced.
    package var replaced: UInt64 = 0
    /// Held previews that the end of their gesture cancelled.
    package var cancelled: UInt64 = 0
    /// Previews that arrived too late: of a gesture older than one that was seen.
    package var stale: UInt64 = 0
    /// Held previews that were sent before their tick because too many were held.
    package var early: UInt64 = 0
    /// Keys that were evicted early because there were too many.
    package var evicted: UInt64 = 0
    /// How long previews waited until they left; no time for those that left immediately.
    package var waits = LatencyTally()

    /// All zero.
    package init() {}

    /// A preview leaves after a wait.
    mutating func flushed(after wait: Nanoseconds) {
        self.sent += 1
        self.waits.note(wait)
    }
}
