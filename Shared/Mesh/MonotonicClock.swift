internal import Glibc
package import Timing

/// The one clock of this module: CLOCK_MONOTONIC.
package enum MonotonicClock {
    /// The current time; never goes back, and does not stop while other threads run.
    package static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}
