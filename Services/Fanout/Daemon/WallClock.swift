internal import Glibc

/// The time of day, for the names of sessions only: nothing is ordered by it.
enum WallClock {
    /// Milliseconds since 1970.
    static func milliseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec) &* 1000 &+ UInt64(clamping: time.tv_nsec) / 1_000_000
    }
}
