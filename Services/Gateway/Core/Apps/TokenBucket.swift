package import Timing

/// A rate limit that allows bursts: `capacity` tokens, refilled at `perSecond`.
package struct TokenBucket: Equatable, Sendable {
    private var tokens: Double
    private var updatedAt: Instant
    private let capacity: Double
    private let perSecond: Double

    /// A full bucket.
    package init(capacity: Int, perSecond: Int, now: Instant) {
        self.capacity = Double(capacity)
        self.perSecond = Double(max(1, perSecond))
        self.tokens = Double(capacity)
        self.updatedAt = now
    }

    /// Spends tokens, no more than the bucket holds; false when there are not that many.
    package mutating func spend(_ count: Int = 1, at now: Instant) -> Bool {
        self.refill(at: now)
        let count = min(Double(count), self.capacity)
        guard self.tokens >= count else { return false }
        self.tokens -= count
        return true
    }

    /// Spends tokens whether there are that many or not: those that follow wait for the rest. Fewer than none are given
    /// back.
    /// - Parameter longestDebt: no debt takes longer to be paid.
    mutating func charge(_ count: Int, at now: Instant, longestDebt: Nanoseconds = .seconds(60)) {
        self.refill(at: now)
        let least = -longestDebt.seconds * self.perSecond
        self.tokens = min(self.capacity, max(self.tokens - Double(count), least))
    }

    /// Whether that many could be spent now.
    mutating func allows(_ count: Int, at now: Instant) -> Bool {
        self.refill(at: now)
        return self.tokens >= min(Double(count), self.capacity)
    }

    /// The time until `count` tokens are available, ms, at least 1.
    package mutating func waitMs(for count: Int = 1, at now: Instant) -> UInt32 {
        self.refill(at: now)
        let missing = max(0, min(Double(count), self.capacity) - self.tokens)
        return UInt32(max(1, min(60_000, (missing / self.perSecond * 1000).rounded(.up))))
    }

    /// True when nothing was spent for so long that it is full again.
    func isFull(at now: Instant) -> Bool {
        var bucket = self
        bucket.refill(at: now)
        return bucket.tokens >= bucket.capacity
    }

    private mutating func refill(at now: Instant) {
        guard now > self.updatedAt else { return }
        let gained = now.elapsed(since: self.updatedAt).seconds * self.perSecond
        self.tokens = min(self.capacity, self.tokens + gained)
        self.updatedAt = now
    }
}
