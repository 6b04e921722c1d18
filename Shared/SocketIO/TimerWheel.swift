/// One wheel of deadlines for all connections of a loop. Lazy: nothing is ever removed or moved.
///
/// Each token remembers the tick it was last inserted for; when a tick comes up, its tokens are handed back and decide
/// for themselves whether they are due or want to be inserted again. A deadline that moves later (every pong) thus
/// costs nothing. Deadlines beyond one turn stay in their slot and are looked at in every turn.
public struct TimerWheel<Token> {
    private struct Entry {
        var token: Token
        var tick: UInt64
    }

    private var slots: [[Entry]]
    /// The first tick not handed out yet.
    private var cursor: UInt64
    private let resolution: UInt64
    /// Entries in the wheel.
    public private(set) var count = 0

    /// An empty wheel at `now` with `slotCount` slots of `resolution` nanoseconds.
    public init(now: UInt64, resolution: UInt64 = 10_000_000, slotCount: Int = 1024) {
        self.resolution = max(1, resolution)
        self.slots = Array(repeating: [], count: max(1, slotCount))
        self.cursor = now / self.resolution
    }

    /// The tick at whose end a deadline has passed.
    public func tick(for deadline: UInt64) -> UInt64 {
        max(deadline / self.resolution + (deadline % self.resolution == 0 ? 0 : 1), self.cursor)
    }

    /// Inserts a token for `tick`; see ``tick(for:)``.
    public mutating func insert(_ token: Token, tick: UInt64) {
        let tick = max(tick, self.cursor)
        self.slots[Int(tick % UInt64(self.slots.count))].append(Entry(token: token, tick: tick))
        self.count += 1
    }

    /// Hands out everything whose tick has come, with that tick, in order of ticks.
    public mutating func advance(to now: UInt64, _ due: inout [(token: Token, tick: UInt64)]) {
        let end = now / self.resolution
        guard end >= self.cursor else { return }
        // After a long pause one turn sees every slot.
        let turns = min(end - self.cursor + 1, UInt64(self.slots.count))
        for step in 0..<turns {
            let index = Int((self.cursor + step) % UInt64(self.slots.count))
            guard !self.slots[index].isEmpty else { continue }
            let entries = self.slots[index]
            self.slots[index].removeAll(keepingCapacity: entries.count <= 64)
            for entry in entries {
                if entry.tick <= end {
                    due.append((entry.token, entry.tick))
                    self.count -= 1
                } else {
                    self.slots[index].append(entry)
                }
            }
        }
        self.cursor = end + 1
    }

    /// When the next occupied slot comes up, in nanoseconds; `nil` if the wheel is empty.
    public var nextTime: UInt64? {
        guard self.count > 0 else { return nil }
        for step in 0..<UInt64(self.slots.count) {
            let tick = self.cursor + step
            if !self.slots[Int(tick % UInt64(self.slots.count))].isEmpty { return tick * self.resolution }
        }
        return nil
    }
}
