internal import Glibc

/// The wall clock for log lines.
enum LogTime {
    /// Now in UTC with microseconds, RFC 3339: `2025-11-21T07:48:00.123456Z`.
    static func now() -> String {
        let time = timespec(of: CLOCK_REALTIME)
        return self.text(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
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
