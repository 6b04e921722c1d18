package import Timing
import Wire

/// A rate limit for each of many keys, such as addresses or users: whoever exceeds the limit does not use up another's.
/// Bounded: when meters of too many keys are in use, all further keys share one.
package struct RateBudget<Key: Hashable & Sendable>: Sendable {
    private let unused: RateMeter
    private let maxKeys: Int
    private let longestDebt: Nanoseconds
    private var meters: [Key: RateMeter] = [:]
    private var shared: RateMeter
    /// How often something was refused because a key had no tokens. Not every spending that fails leads to a refusal:
    /// some wait, so ``countRefusal()`` counts.
    package private(set) var refusedTotal: UInt64 = 0
    /// Unused meters are searched no more often than once a second, whatever comes.
    private var searchAt = Instant.start

    /// - Parameters:
    ///   - burst: what a key may spend together after a pause.
    ///   - maxKeys: meters that are kept.
    ///   - longestDebt: how long a key may have to pay for what it was charged; those that share a meter a minute at most.
    package init(perSecond: Int, burst: Int, maxKeys: Int = 4096, longestDebt: Nanoseconds = .seconds(60)) {
        self.unused = RateMeter(perSecond: perSecond, burst: burst)
        self.shared = self.unused
        self.maxKeys = maxKeys
        self.longestDebt = longestDebt
    }

    package var count: Int { self.meters.count }

    /// Spends tokens of a key.
    /// - Returns: nil; or, when there are not that many and none was spent, the time until there are, ms.
    package mutating func spend(_ count: Int = 1, of key: Key, at now: Instant) -> UInt32? {
        if let known = self.meters.index(forKey: key) {
            return Self.spend(count, from: &self.meters.values[known], at: now)
        }
        if self.meters.count >= self.maxKeys { self.forgetIdle(at: now) }
        guard self.meters.count < self.maxKeys else { return Self.spend(count, from: &self.shared, at: now) }
        return Self.spend(count, from: &self.meters[key, default: self.unused], at: now)
    }

    /// Spends tokens of a key whether there are that many or not; fewer than none are given back.
    package mutating func charge(_ count: Int, of key: Key, at now: Instant) {
        let isKnown = self.meters.index(forKey: key) != nil
        if !isKnown, self.meters.count >= self.maxKeys { self.forgetIdle(at: now) }
        if !isKnown, self.meters.count >= self.maxKeys {
            self.shared.charge(count, at: now)
        } else {
            self.meters[key, default: self.unused].charge(count, at: now, longestDebt: self.longestDebt)
        }
    }

    /// The time until a key has paid for what it was charged, ms; nil when it has. Nothing is spent, and nobody is held to
    /// what those have spent that share a meter.
    package func debt(of key: Key, at now: Instant) -> UInt32? {
        let wait = self.meters[key]?.wait(at: now) ?? .zero
        return wait == .zero ? nil : wait.retryMilliseconds
    }

    /// Something is refused because its key had no tokens.
    package mutating func countRefusal() { self.refusedTotal += 1 }

    private static func spend(_ count: Int, from meter: inout RateMeter, at now: Instant) -> UInt32? {
        meter.spend(count, at: now) ? nil : meter.wait(for: count, at: now).retryMilliseconds
    }

    private mutating func forgetIdle(at now: Instant) {
        guard now >= self.searchAt else { return }
        self.searchAt = now + .seconds(1)
        self.meters = self.meters.filter { !$0.value.isUnused(at: now) }
    }
}

extension RateMeter {
    /// - Throws: a refusal with this text when the rate allows nothing now.
    mutating func spend(at now: Instant, orRefuse text: String) throws(Refusal) {
        guard !self.spend(at: now) else { return }
        throw Refusal(.rateLimited, text, retryAfterMs: self.wait(at: now).retryMilliseconds)
    }
}
