/// What a ``Coalescer`` has done since it began; every number only grows.
package struct CoalescerCounters: Equatable, Sendable {
    /// Previews that came in.
    package var received: UInt64 = 0
    /// Previews that went out.
    package var sent: UInt64 = 0
    /// Of those, the ones that did not wait because their room was quiet.
    package var sentAtOnce: UInt64 = 0
    /// Previews that went out, did not get away and came back.
    package var returned: UInt64 = 0
    /// Previews that were merged into a held one of the same gesture.
    package var folded: UInt64 = 0
    /// Held previews that a preview of a newer gesture replaced.
    package var replaced: UInt64 = 0
    /// Held previews that the commit of their gesture made pointless.
    package var cancelled: UInt64 = 0
    /// Previews that came too late: of a gesture that was closed, or older than one that was seen.
    package var stale: UInt64 = 0
    /// Held previews that went out before their tick because too many were held.
    package var early: UInt64 = 0
    /// Keys that were forgotten before their time because there were too many.
    package var evicted: UInt64 = 0

    /// Nothing yet.
    package init() {}
}
