internal import Glibc

/// The one clock of this module: nanoseconds of CLOCK_MONOTONIC, as `UInt64`.
package enum MonotonicClock {
    /// The present time in nanoseconds since an arbitrary start; never goes back, does not stop while other threads run.
    package static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

extension Duration {
    /// This duration in whole nanoseconds, clamped to 0 … about 146 years so that adding it to a time cannot overflow.
    package var nanosecondsClamped: UInt64 {
        let (seconds, attoseconds) = self.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 4_600_000_000 else { return 4_600_000_000_000_000_000 }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// This duration in whole milliseconds, clamped to what a libzmq option takes.
    var millisecondsClamped: Int32 {
        Int32(clamping: self.nanosecondsClamped / 1_000_000)
    }
}
