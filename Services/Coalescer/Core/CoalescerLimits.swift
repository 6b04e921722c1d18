/// How fast a room's previews go and how much a ``Coalescer`` may remember.
package struct CoalescerLimits: Equatable, Sendable {
    /// The length of a tick, ns: a busy room's previews leave once in so much time.
    package var tick: UInt64
    /// How much earlier than the tick allows a room may depart, ns, after it departed late or not at all.
    package var credit: UInt64
    /// How many (room, element, connection) keys are known at once, held previews included.
    package var maxEntries: Int
    /// How long a key without traffic is remembered, ns: its last gesture and when it was last sent.
    package var memory: UInt64

    /// Limits; a tick of 0 counts as 1 ns, fewer than one entry as one. Without a credit it is one tick.
    package init(
        tick: UInt64 = 16_000_000, credit: UInt64? = nil, maxEntries: Int = 65_536, memory: UInt64 = 30_000_000_000
    ) {
        self.tick = max(tick, 1)
        self.credit = credit ?? self.tick
        self.maxEntries = max(maxEntries, 1)
        self.memory = memory
    }

    /// Departures that are bound to a time happen at multiples of this, ns: one wake-up serves many rooms.
    var cell: UInt64 { max(1, self.tick / 4) }
    /// Rooms of several movers that are complete depart together, or so long after each other at least, ns. Shorter than
    /// gateways pause between two envelopes, so that nearly always a departure is an answer to an envelope, not a timer.
    var gathering: UInt64 { self.tick / 8 }
    /// Who sent nothing for one to two times this, ns, is no mover any more. Apps that send 30 times a second count.
    var moverSpan: UInt64 { self.tick.saturatingAdd(self.tick).saturatingAdd(self.tick / 2) }
}
