internal import Glibc

/// The wall clock; only the names of sessions carry it, nothing is decided by it.
enum RealTime {
    /// Milliseconds since 1970, UTC.
    static func milliseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return UInt64(clamping: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)
    }
}
