/// How often something may happen: `burst` times at once after a pause, and once per `interval` in the long run.
public struct RateLimit: Sendable, Equatable {
    /// Nanoseconds that one unit costs; at least 1.
    public let interval: UInt64
    /// Units that may come together after a pause; at least 1.
    public let burst: Int

    /// One unit in each `interval` (nanoseconds).
    public init(every interval: UInt64, burst: Int) {
        self.interval = max(1, interval)
        self.burst = max(1, burst)
    }

    /// `rate` units a second.
    public init(perSecond rate: Int, burst: Int) {
        self.init(every: 1_000_000_000 / UInt64(max(1, rate)), burst: burst)
    }

    /// `rate` units a minute, as many at once.
    public init(perMinute rate: Int) {
        self.init(every: 60_000_000_000 / UInt64(max(1, rate)), burst: rate)
    }

    /// How long the whole burst takes to return, nanoseconds.
    fileprivate var window: Int64 { Self.cost(self.burst, self.interval) }

    fileprivate static func cost(_ units: Int, _ interval: UInt64) -> Int64 {
        let (cost, overflow) = Int64(clamping: units).multipliedReportingOverflow(by: Int64(clamping: interval))
        return overflow ? .max / 4 : min(cost, .max / 4)
    }
}

/// What was used of a ``RateLimit``: a token bucket, kept as the time at which the units used so far are paid for (the
/// generic cell rate algorithm of ITU-T I.371). Times are nanoseconds of any monotonic clock.
public struct RateMeter: Sendable, Equatable {
    /// `nil` while nothing was used.
    private var paid: Int64?

    /// Nothing was used yet.
    public init() {}

    /// Uses units; false, and nothing is used, if there are not that many left.
    public mutating func spend(_ units: Int = 1, of limit: RateLimit, at now: UInt64) -> Bool {
        let paid = self.paid(limit, now) + RateLimit.cost(units, limit.interval)
        guard paid <= Int64(clamping: now) else { return false }
        self.paid = paid
        return true
    }

    /// Uses units, even more than there are.
    public mutating func charge(_ units: Int, to limit: RateLimit, at now: UInt64) {
        self.paid = self.paid(limit, now) + RateLimit.cost(units, limit.interval)
    }

    /// When everything used is paid for; in the past unless more was used than there was.
    public var paidUntil: UInt64 { UInt64(max(0, self.paid ?? 0)) }

    /// Whether the whole burst has returned.
    public func isUnused(_ limit: RateLimit, at now: UInt64) -> Bool {
        self.paid.map { $0 <= Int64(clamping: now) - limit.window } ?? true
    }

    private func paid(_ limit: RateLimit, _ now: UInt64) -> Int64 {
        let earliest = Int64(clamping: now) - limit.window
        return self.paid.map { max($0, earliest) } ?? earliest
    }
}
