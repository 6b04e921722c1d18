import Glibc
package import Timing

/// Time that passes only when the test says so, as machines are given it.
package struct ManualClock: Equatable, Sendable {
    /// Now; starts away from zero, because nothing may depend on where time begins.
    package private(set) var now = Instant(nanoseconds: 1_000_000_000_000)

    /// The start of time.
    package init() {}

    /// Lets time pass.
    ///
    /// - Returns: the new now.
    @discardableResult
    package mutating func advance(by duration: Duration) -> Instant {
        now = now + Nanoseconds(duration)
        return now
    }

    /// The real monotonic time, for tests with real sockets.
    package static func monotonic() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec))
    }
}
