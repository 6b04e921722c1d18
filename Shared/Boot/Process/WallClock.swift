internal import Glibc

/// The time of day, only for tokens, for the names of sessions and for apps that compare their clocks with it: nothing is
/// ordered by it.
package enum WallClock {
    /// Seconds since 1970, UTC.
    package static func seconds() -> Int64 {
        Int64(self.now().tv_sec)
    }

    /// Seconds since 1970, UTC, with their fraction.
    package static func exactSeconds() -> Double {
        let now = self.now()
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    /// Milliseconds since 1970, UTC, with their fraction.
    package static func exactMilliseconds() -> Double { self.exactSeconds() * 1000 }

    /// Milliseconds since 1970, UTC.
    package static func milliseconds() -> UInt64 {
        let now = self.now()
        return UInt64(clamping: now.tv_sec) &* 1000 &+ UInt64(clamping: now.tv_nsec) / 1_000_000
    }

    private static func now() -> timespec {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now
    }
}
