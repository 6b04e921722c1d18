/// How often something may happen, and what of that was used: a token bucket, kept as the time at which the units used so
/// far are paid for (the generic cell rate algorithm of ITU-T I.371).
///
/// A meter of which nothing was used stands for its limit: a settings value is one, and each peer starts with a copy.
public struct RateMeter: Sendable, Equatable {
    /// The time that pays for one unit, in nanoseconds; below 1 where a nanosecond pays for several bytes.
    private let interval: Double
    /// Units that may come together after a pause.
    private let burst: Int
    /// Nanoseconds of the clock; at first long before its start.
    private var paid: Int64 = -Self.longest

    /// Nothing was used.
    /// - Parameters:
    ///   - rate: units a second in the long run, at least one.
    ///   - burst: units that may come together after a pause, at least one; a second's when it is left out.
    public init(perSecond rate: Int, burst: Int? = nil) {
        self.interval = 1e9 / Double(max(1, rate))
        self.burst = max(1, burst ?? rate)
    }

    /// Nothing was used of `rate` units a minute, at least one, which may come together after a pause.
    public init(perMinute rate: Int) {
        self.interval = 60e9 / Double(max(1, rate))
        self.burst = max(1, rate)
    }

    /// Uses units, of more than a burst only that.
    /// - Returns: false when there are not that many, and none was used.
    public mutating func spend(_ units: Int = 1, at now: Instant) -> Bool {
        let paid = self.paid(with: units, at: now)
        guard paid <= Self.time(now) else { return false }
        self.paid = paid
        return true
    }

    /// Uses units whether there are that many or not: those that follow wait for the rest. Fewer than none are given back.
    /// - Parameter longestDebt: no debt takes longer to be paid.
    public mutating func charge(_ units: Int, at now: Instant, longestDebt: Nanoseconds = .seconds(60)) {
        let latest = Self.time(now + longestDebt)
        let earliest = self.earliest(now)
        self.paid = max(earliest, min(max(self.paid, earliest) + self.cost(units), latest))
    }

    /// Whether that many units could be used now.
    public func allows(_ units: Int = 1, at now: Instant) -> Bool { self.wait(for: units, at: now) == .zero }

    /// The time until that many units, of more than a burst only that, can be used.
    public func wait(for units: Int = 1, at now: Instant) -> Nanoseconds {
        Nanoseconds(UInt64(max(0, self.paid(with: units, at: now) - Self.time(now))))
    }

    /// When everything used is paid for; in the past unless more was used than there was.
    public var paidUntil: Instant { Instant(nanoseconds: UInt64(max(0, self.paid))) }

    /// Whether the whole burst has returned: then it is like one that was never used.
    public func isUnused(at now: Instant) -> Bool { self.paid <= self.earliest(now) }

    private func paid(with units: Int, at now: Instant) -> Int64 {
        max(self.paid, self.earliest(now)) + self.cost(min(units, self.burst))
    }

    /// When what was used is paid for, if the whole burst is there.
    private func earliest(_ now: Instant) -> Int64 { Self.time(now) - self.cost(self.burst) }

    private func cost(_ units: Int) -> Int64 {
        let limit = Double(Self.longest)
        return Int64(max(-limit, min((Double(units) * self.interval).rounded(), limit)))
    }

    private static func time(_ instant: Instant) -> Int64 { Int64(min(instant.nanoseconds, UInt64(Self.longest))) }

    /// A quarter of the largest number, so that three of them can be added: 73 years.
    private static let longest = Int64.max / 4
}

extension Nanoseconds {
    /// The whole milliseconds to wait for so long, at least 1 and at most a minute.
    public var retryMilliseconds: UInt32 { UInt32(max(1, min(60_000, (self.count + 999_999) / 1_000_000))) }
}
