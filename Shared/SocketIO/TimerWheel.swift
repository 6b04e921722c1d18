/// A timer wheel for the deadlines of all connections of a loop. Lazy: nothing is ever removed or moved.
///
/// Each token stores the tick it was last inserted for. When a tick is reached, its tokens are returned, and each
/// decides whether it is due or is inserted again. So moving a deadline to a later time (on every pong) costs nothing.
/// Deadlines beyond one turn stay in their slot and are checked in every turn.
public struct TimerWheel<Token> {
    private struct Entry {
        var token: Token
        var tick: UInt64
    }

    private var slots: [[Entry]]
    /// The first tick that was not returned yet.
    private var cursor: UInt64
    private let resolution: UInt64
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

    /// Returns all tokens whose tick has been reached, with that tick, in order of ticks.
    public mutating func advance(to now: UInt64, _ due: inout [(token: Token, tick: UInt64)]) {
        let end = now / self.resolution
        guard end >= self.cursor else { return }
        // After a long pause one turn covers every slot.
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

    /// When the next occupied slot is reached, in nanoseconds; `nil` if the wheel is empty.
    public var nextTime: UInt64? {
        guard self.count > 0 else { return nil }
        for step in 0..<UInt64(self.slots.count) {
            let tick = self.cursor + step
            if !self.slots[Int(tick % UInt64(self.slots.count))].isEmpty { return tick * self.resolution }
        }
        return nil
    }
}
