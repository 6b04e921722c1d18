package import Timing

/// A rate limit for each of many keys, such as addresses or users: whoever exceeds the limit does not use up another's.
/// Bounded: when buckets of too many keys are in use, all further keys share one.
package struct RateBudget<Key: Hashable & Sendable>: Sendable {
    private let full: TokenBucket
    private let maxKeys: Int
    private let longestDebt: Nanoseconds
    private var buckets: [Key: TokenBucket] = [:]
    private var shared: TokenBucket
    /// How often something was refused because a key had no tokens. Not every spending that fails leads to a refusal:
    /// some wait, so ``countRefusal()`` counts.
    package private(set) var refusedTotal: UInt64 = 0
    /// Idle buckets are searched no more often than once a second, whatever comes.
    private var searchAt = Instant.start

    /// - Parameters:
    ///   - burst: what a key may spend together after a pause.
    ///   - maxKeys: buckets that are kept.
    ///   - longestDebt: how long a key may have to pay for what it was charged; those that share a bucket a minute at most.
    package init(
        perSecond: Int, burst: Int, maxKeys: Int = 4096, longestDebt: Nanoseconds = .seconds(60), at now: Instant
    ) {
        self.full = TokenBucket(capacity: burst, perSecond: perSecond, now: now)
        self.shared = self.full
        self.maxKeys = maxKeys
        self.longestDebt = longestDebt
    }

    /// The number of keys with a bucket of their own.
    package var count: Int { self.buckets.count }

    /// Spends tokens of a key.
    /// - Returns: nil; or, when there are not that many and none was spent, the time until there are, ms.
    package mutating func spend(_ count: Int = 1, of key: Key, at now: Instant) -> UInt32? {
        if let known = self.buckets.index(forKey: key) {
            return Self.spend(count, from: &self.buckets.values[known], at: now)
        }
        if self.buckets.count >= self.maxKeys { self.forgetIdle(at: now) }
        guard self.buckets.count < self.maxKeys else { return Self.spend(count, from: &self.shared, at: now) }
        return Self.spend(count, from: &self.buckets[key, default: self.full], at: now)
    }

    /// Spends tokens of a key whether there are that many or not; fewer than none are given back.
    package mutating func charge(_ count: Int, of key: Key, at now: Instant) {
        let isKnown = self.buckets.index(forKey: key) != nil
        if !isKnown, self.buckets.count >= self.maxKeys { self.forgetIdle(at: now) }
        if !isKnown, self.buckets.count >= self.maxKeys {
            self.shared.charge(count, at: now)
        } else {
            self.buckets[key, default: self.full].charge(count, at: now, longestDebt: self.longestDebt)
        }
    }

    /// The time until a key has paid for what it was charged, ms; nil when it has. Nothing is spent, and nobody is held to
    /// what those have spent that share a bucket.
    package mutating func debt(of key: Key, at now: Instant) -> UInt32? {
        guard let known = self.buckets.index(forKey: key), !self.buckets.values[known].allows(1, at: now) else {
            return nil
        }
        return self.buckets.values[known].waitMs(at: now)
    }

    /// Something is refused because its key had no tokens.
    package mutating func countRefusal() { self.refusedTotal += 1 }

    private static func spend(_ count: Int, from bucket: inout TokenBucket, at now: Instant) -> UInt32? {
        bucket.spend(count, at: now) ? nil : bucket.waitMs(for: count, at: now)
    }

    /// A full bucket is like none.
    private mutating func forgetIdle(at now: Instant) {
        guard now >= self.searchAt else { return }
        self.searchAt = now + .seconds(1)
        self.buckets = self.buckets.filter { !$0.value.isFull(at: now) }
    }
}
