internal import Glibc

/// The wall clock for log lines.
enum LogTime {
    /// Now in UTC with microseconds, RFC 3339: `2025-11-21T07:48:00.123456Z`.
    static func now() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
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

    /// The microseconds since 1970 of a time that ``text(seconds:nanoseconds:)`` wrote; nil for any other text.
    static func microseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 27, bytes[26] == UInt8(ascii: "Z"), bytes[19] == UInt8(ascii: "."),
            let fraction = self.number(bytes[20..<26]), let year = self.number(bytes[0..<4]),
            let month = self.number(bytes[5..<7]), let day = self.number(bytes[8..<10]),
            let hour = self.number(bytes[11..<13]), let minute = self.number(bytes[14..<16]),
            let second = self.number(bytes[17..<19])
        else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = month - 1
        parts.tm_mday = day
        parts.tm_hour = hour
        parts.tm_min = minute
        parts.tm_sec = second
        return Int64(timegm(&parts)) * 1_000_000 + Int64(fraction)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int32? {
        Int32(String(decoding: digits, as: UTF8.self))
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func six(_ number: Int) -> String { String("\(1_000_000 + number)".dropFirst()) }
}
