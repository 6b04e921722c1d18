/// A rate limit that allows bursts: `capacity` tokens, refilled at `perSecond`.
package struct TokenBucket: Equatable, Sendable {
    private var tokens: Double
    private var updatedAt: UInt64
    private let capacity: Double
    private let perSecond: Double

    /// A full bucket at time `now` (ms).
    package init(capacity: Int, perSecond: Int, now: UInt64) {
        self.capacity = Double(capacity)
        self.perSecond = Double(max(1, perSecond))
        self.tokens = Double(capacity)
        self.updatedAt = now
    }

    /// Takes a token if there is one at time `now` (ms).
    package mutating func take(at now: UInt64) -> Bool {
        self.refill(at: now)
        guard self.tokens >= 1 else { return false }
        self.tokens -= 1
        return true
    }

    /// How long until there is a token, ms, at least 1.
    package mutating func wait(at now: UInt64) -> UInt32 {
        self.refill(at: now)
        let missing = max(0, 1 - self.tokens)
        return UInt32(max(1, min(60_000, (missing / self.perSecond * 1000).rounded(.up))))
    }

    private mutating func refill(at now: UInt64) {
        guard now > self.updatedAt else { return }
        let gained = Double(now - self.updatedAt) / 1000 * self.perSecond
        self.tokens = min(self.capacity, self.tokens + gained)
        self.updatedAt = now
    }
}
