/// A token bucket: `burst` at once, then `rate` a second.
public struct TokenBucket: Sendable {
    private var tokens: Float
    private var updated: UInt64

    /// A full bucket at `now` (nanoseconds).
    public init(burst: Float, at now: UInt64) {
        self.tokens = burst
        self.updated = now
    }

    /// Takes one token if there is one.
    public mutating func take(burst: Float, rate: Float, at now: UInt64) -> Bool {
        let elapsed = now > self.updated ? now - self.updated : 0
        self.updated = max(now, self.updated)
        self.tokens = min(burst, self.tokens + Float(elapsed) / 1_000_000_000 * rate)
        guard self.tokens >= 1 else { return false }
        self.tokens -= 1
        return true
    }
}
