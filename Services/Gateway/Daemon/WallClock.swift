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

/// The clock of deadlines.
enum SteadyClock {
    /// Nanoseconds since some moment before the start.
    static func nanoseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// Suspends the thread, for a fraction of a second at most; 0 returns at once.
    static func sleep(nanoseconds: UInt64) {
        guard nanoseconds > 0 else { return }
        var time = timespec(tv_sec: 0, tv_nsec: Int(min(nanoseconds, 999_999_999)))
        nanosleep(&time, nil)
    }
}
