package import Timing
package import Wire

/// The rate at which the tokens of each address are checked, so that strangers cannot keep the gateway busy with
/// signatures. Bounded: when buckets of too many addresses are in use, all further addresses share one.
package struct AddressBudget<Address: Hashable & Sendable>: Sendable {
    private let perSecond: Int
    private let maxAddresses: Int
    private var buckets: [Address: TokenBucket] = [:]
    private var shared: TokenBucket
    /// Idle buckets are searched no more often than once a second, whatever comes.
    private var searchAt = Instant.start

    /// - Parameter maxAddresses: buckets that are kept.
    package init(perSecond: Int, maxAddresses: Int = 4096, at now: Instant) {
        self.perSecond = perSecond
        self.maxAddresses = maxAddresses
        self.shared = Self.bucket(perSecond, now)
    }

    private static func bucket(_ perSecond: Int, _ now: Instant) -> TokenBucket {
        TokenBucket(capacity: perSecond * DoorLimit.burst, perSecond: perSecond, now: now)
    }

    /// The number of addresses with a bucket of their own.
    package var count: Int { self.buckets.count }

    /// A token of an address is about to be checked.
    /// - Throws: when the rate allows no check now, with the time to wait.
    package mutating func startCheck(of address: Address, at now: Instant) throws(Refusal) {
        if self.buckets[address] == nil, self.buckets.count >= self.maxAddresses { self.forgetIdle(at: now) }
        guard self.buckets[address] != nil || self.buckets.count < self.maxAddresses else {
            return try Self.spend(&self.shared, at: now)
        }
        try Self.spend(&self.buckets[address, default: Self.bucket(self.perSecond, now)], at: now)
    }

    private static func spend(_ bucket: inout TokenBucket, at now: Instant) throws(Refusal) {
        guard !bucket.spend(at: now) else { return }
        throw .tooManyTokens(retryAfterMs: bucket.waitMs(at: now))
    }

    /// A full bucket is like none.
    private mutating func forgetIdle(at now: Instant) {
        guard now >= self.searchAt else { return }
        self.searchAt = now + .seconds(1)
        self.buckets = self.buckets.filter { !$0.value.isFull(at: now) }
    }
}
