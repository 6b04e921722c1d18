/// A token bucket of packets: a burst of `burst`, then `rate` a second.
public struct PacketBudget: Sendable {
    private var left: Float
    private var updated: UInt64

    /// A full budget at `now` (nanoseconds).
    public init(burst: Float, at now: UInt64) {
        self.left = burst
        self.updated = now
    }

    /// Counts one packet; false if the budget is exhausted.
    public mutating func spend(burst: Float, rate: Float, at now: UInt64) -> Bool {
        let elapsed = now > self.updated ? now - self.updated : 0
        self.updated = max(now, self.updated)
        self.left = min(burst, self.left + Float(elapsed) / 1_000_000_000 * rate)
        guard self.left >= 1 else { return false }
        self.left -= 1
        return true
    }
}
