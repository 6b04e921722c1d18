internal import Glibc
package import Timing

/// The one clock of this module: CLOCK_MONOTONIC.
package enum MonotonicClock {
    /// The present moment; never goes back, does not stop while other threads run.
    package static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }
}

extension Duration {
    /// This duration in whole milliseconds, clamped to what a libzmq option takes.
    var millisecondsClamped: Int32 {
        Int32(clamping: Nanoseconds(self).milliseconds)
    }
}
