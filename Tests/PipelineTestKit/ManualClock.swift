import Glibc

/// Time that passes only when the test says so, in the nanoseconds that machines take.
package struct ManualClock: Equatable, Sendable {
    /// Now; starts away from zero, because nothing may depend on where time begins.
    package private(set) var now: UInt64 = 1_000_000_000_000

    /// The start of time.
    package init() {}

    /// Lets time pass.
    ///
    /// - Returns: the new now.
    @discardableResult
    package mutating func advance(by duration: Duration) -> UInt64 {
        let parts = duration.components
        now += UInt64(clamping: parts.seconds) * 1_000_000_000 + UInt64(clamping: parts.attoseconds / 1_000_000_000)
        return now
    }

    /// The real monotonic time in the same unit, for tests with real sockets.
    package static func monotonic() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec)
    }
}
