import Glibc

/// Time since the origin of a run, nanoseconds.
struct Clock: Sendable {
    private let origin: Int64

    init() { self.origin = Self.uptime() }

    var now: Int64 { Self.uptime() - self.origin }

    private static func uptime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
