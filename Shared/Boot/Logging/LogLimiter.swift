/// Admits one log line per interval and counts the others; a pure value, to which the caller passes the time.
///
///     if let suppressed = limiter.admit(at: .now) { logger.warning("preview dropped", metadata: ["log.suppressed": "\(suppressed)"]) }
package struct LogLimiter: Sendable {
    private let interval: Duration
    private var last: ContinuousClock.Instant?
    private var suppressed: UInt64 = 0

    /// - Parameter interval: the minimum time between two lines.
    package init(every interval: Duration) {
        self.interval = interval
    }

    /// Requests a line.
    /// - Returns: the number of rejected lines since the last one; nil when this one is rejected too.
    package mutating func admit(at now: ContinuousClock.Instant) -> UInt64? {
        if let last, now - last < self.interval {
            self.suppressed += 1
            return nil
        }
        self.last = now
        defer { self.suppressed = 0 }
        return self.suppressed
    }
}
