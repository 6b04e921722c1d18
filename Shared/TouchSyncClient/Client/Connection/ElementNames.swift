#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Ids of new elements, so that of elements with one `zIndex` later ones lie on top of earlier ones, also of other
/// clients as far as the clocks agree.
///
/// An id is `~`, the time, `-`, a number, `-` and a unique name. `~` sorts above letters and digits, so that elements
/// with other ids lie below. Time and number are to the base 36, each with as many digits in every id: 8 are the ms
/// from 1972 to 2059.
struct ElementNames: Sendable {
    /// The time in the latest id, ms since 1970. It does not run backwards, and has 8 digits from the beginning: 36⁷.
    private var latest: Int64 = 78_364_164_096
    /// Orders ids of the same ms. The first number of 4 digits, 36³, of which there are 1.6 million.
    private var number = 46_656

    /// The next id.
    /// - Parameter now: the time of day, ms since 1970.
    mutating func next(at now: Int64) -> String {
        defer { self.number += 1 }
        self.latest = max(self.latest, now)
        return "~" + String(self.latest, radix: 36) + "-" + String(self.number, radix: 36) + "-" + uniqueName()
    }

    static var timeOfDay: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
