internal import Glibc

/// The time of day, only for tokens, for the names of sessions and for apps that compare their clocks with it: nothing is
/// ordered by it.
package enum WallClock {
    /// Seconds since 1970, UTC.
    package static func seconds() -> Int64 { Int64(timespec(of: CLOCK_REALTIME).tv_sec) }
    /// Seconds since 1970, UTC, with their fraction.
    package static func exactSeconds() -> Double { timespec(of: CLOCK_REALTIME).seconds }
    /// Milliseconds since 1970, UTC, with their fraction.
    package static func exactMilliseconds() -> Double { self.exactSeconds() * 1000 }
    /// Milliseconds since 1970, UTC.
    package static func milliseconds() -> UInt64 { timespec(of: CLOCK_REALTIME).nanoseconds / 1_000_000 }

    /// Now in UTC with microseconds, RFC 3339: `2025-11-21T07:48:00.123456Z`.
    package static func text() -> String {
        let time = timespec(of: CLOCK_REALTIME)
        return Self.text(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    /// A time since 1970 as RFC 3339 text.
    static func text(seconds: Int, nanoseconds: Int) -> String {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return "\(Int(parts.tm_year) + 1900)-\(Self.two(Int(parts.tm_mon) + 1))-\(Self.two(Int(parts.tm_mday)))T"
            + "\(Self.two(Int(parts.tm_hour))):\(Self.two(Int(parts.tm_min))):\(Self.two(Int(parts.tm_sec)))"
            + ".\(Self.six(nanoseconds / 1000))Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func six(_ number: Int) -> String { String("\(1_000_000 + number)".dropFirst()) }
}

package enum ProcessClock {
    /// CPU time of all threads of this process since it started, user and system, ns.
    package static func cpuNanoseconds() -> UInt64 { timespec(of: CLOCK_PROCESS_CPUTIME_ID).nanoseconds }
    /// Time that has passed since some moment, ns.
    static func uptimeNanoseconds() -> UInt64 { timespec(of: CLOCK_MONOTONIC).nanoseconds }
}

extension timespec {
    /// What a clock of the system shows now.
    init(of clock: clockid_t) {
        self.init()
        clock_gettime(clock, &self)
    }

    var seconds: Double { Double(self.tv_sec) + Double(self.tv_nsec) / 1e9 }
    var nanoseconds: UInt64 { UInt64(clamping: self.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: self.tv_nsec) }
}
