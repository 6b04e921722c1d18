/// How fast a room's previews go and how much a ``Coalescer`` may remember.
package struct CoalescerLimits: Equatable, Sendable {
    /// The length of a tick, ns: a busy room's previews leave once in so much time.
    package var tick: UInt64
    /// How many (room, element, connection) keys are known at once, held previews included.
    package var maxEntries: Int
    /// How long a key without traffic is remembered, ns: its last gesture and when it was last sent.
    package var memory: UInt64

    /// Limits; a tick of 0 counts as 1 ns, fewer than one entry as one.
    package init(tick: UInt64 = 16_000_000, maxEntries: Int = 65_536, memory: UInt64 = 30_000_000_000) {
        self.tick = max(tick, 1)
        self.maxEntries = max(maxEntries, 1)
        self.memory = memory
    }
}
