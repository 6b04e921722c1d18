package import Timing

/// How fast a room's previews go and how much a ``Coalescer`` may remember.
package struct CoalescerLimits: Equatable, Sendable {
    /// A busy room's previews leave once in every tick.
    package var tick: Nanoseconds
    /// How much earlier than the tick allows a room may depart after it departed late or not at all.
    package var credit: Nanoseconds
    /// The most (room, element, connection) keys that are known at a time, those of held previews included.
    package var maxEntries: Int
    /// How long a key without traffic is remembered: its last gesture and when it was last sent.
    package var memory: Nanoseconds

    /// Limits; a tick of 0 counts as 1 ns, fewer than one entry as one. Without a credit it is one tick.
    package init(
        tick: Nanoseconds = .milliseconds(16), credit: Nanoseconds? = nil, maxEntries: Int = 65_536,
        memory: Nanoseconds = .seconds(30)
    ) {
        self.tick = max(tick, Nanoseconds(1))
        self.credit = credit ?? self.tick
        self.maxEntries = max(maxEntries, 1)
        self.memory = memory
    }

    /// Departures that are bound to a time happen at multiples of this: one wake-up serves many rooms.
    var cell: Nanoseconds { max(self.tick / 4, Nanoseconds(1)) }
    /// Rooms of several movers that are complete depart together, or at least this far apart. Shorter than gateways
    /// pause between two envelopes, so that nearly always a departure answers an envelope and needs no timer.
    var gathering: Nanoseconds { self.tick / 8 }
    /// A key that sent nothing for one to two times this is no mover any more. Apps that send 30 times a second count.
    var moverSpan: Nanoseconds { self.tick + self.tick + self.tick / 2 }
}
