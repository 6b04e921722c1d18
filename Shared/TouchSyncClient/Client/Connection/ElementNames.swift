#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Ids of new elements. They begin with the time, so that of elements with one `zIndex` later ones lie on top of earlier
/// ones, also of other clients as far as the clocks agree.
struct ElementNames: Sendable {
    /// What the latest id begins with, ms since 1970, but later than in the one before.
    private var latest: Int64 = 0

    init() {}

    /// The next id.
    /// - Parameter now: the time of day, ms since 1970.
    mutating func next(at now: Int64) -> String {
        self.latest = max(self.latest + 1, now)
        return String(self.latest, radix: 36) + "-" + uniqueName()
    }

    /// The time of day, ms since 1970.
    static var timeOfDay: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
