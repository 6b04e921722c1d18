/// Lets one log line through per interval and counts the others; a pure value, so the caller brings the time.
///
///     if let suppressed = limiter.admit(at: .now) { logger.warning("preview dropped", metadata: ["log.suppressed": "\(suppressed)"]) }
package struct LogLimiter: Sendable {
    private let interval: Duration
    private var last: ContinuousClock.Instant?
    private var suppressed: UInt64 = 0

    /// - Parameter interval: at most one line in so much time.
    package init(every interval: Duration) {
        self.interval = interval
    }

    /// Asks for one line.
    /// - Returns: how many were refused since the last line, or nil when this one is refused too.
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
