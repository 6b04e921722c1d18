import Glibc

/// The wall clock, which only tokens look at.
enum WallClock {
    /// Seconds since 1970, UTC.
    static func seconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }
}
