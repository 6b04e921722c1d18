package import Timing

/// The rate of keys and the memory bounds of a ``Coalescer``.
package struct CoalescerLimits: Equatable, Sendable {
    /// The least time between two previews of a key, on average.
    package var tick: Nanoseconds
    /// How much earlier than its tick a key may be sent, if it was sent late or not at all before.
    package var credit: Nanoseconds
    /// The maximum number of known (room, element, connection) keys, including those of held previews.
    package var maxEntries: Int
    /// How long a key without traffic is remembered: its last gesture and when it was last sent.
    package var memory: Nanoseconds

    /// Limits; a tick of 0 counts as 1 ns, fewer than one entry as one. The credit defaults to one tick.
    package init(
        tick: Nanoseconds = .milliseconds(16), credit: Nanoseconds? = nil, maxEntries: Int = 65_536,
        memory: Nanoseconds = .seconds(30)
    ) {
        self.tick = max(tick, Nanoseconds(1))
        self.credit = credit ?? self.tick
        self.maxEntries = max(maxEntries, 1)
        self.memory = memory
    }
}
