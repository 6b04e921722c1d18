/// A moment on the monotonic clock of one machine, in nanoseconds since an arbitrary start.
///
/// Cores never read a clock: the shell hands them the present moment with every event. Moments of two machines, or of
/// two boots of one, cannot be compared.
public struct Instant: Hashable, Sendable {
    /// Nanoseconds since the clock's start.
    public var nanoseconds: UInt64

    /// The moment that many nanoseconds after the clock's start.
    @inlinable
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's start: before every moment that a shell hands over.
    public static let start = Instant(nanoseconds: 0)

    /// After every moment that a shell hands over: the deadline of what has none.
    public static let never = Instant(nanoseconds: .max)

    /// The time that has passed since `earlier`; zero when `earlier` is the later one.
    @inlinable
    public func elapsed(since earlier: Instant) -> Nanoseconds {
        Nanoseconds(self.nanoseconds > earlier.nanoseconds ? self.nanoseconds &- earlier.nanoseconds : 0)
    }

    /// The moment that much later, at most ``never``.
    @inlinable
    public static func + (instant: Instant, span: Nanoseconds) -> Instant {
        let (sum, isTooLate) = instant.nanoseconds.addingReportingOverflow(span.count)
        return isTooLate ? Instant(nanoseconds: .max) : Instant(nanoseconds: sum)
    }

    @inlinable
    public static func += (instant: inout Instant, span: Nanoseconds) { instant = instant + span }

    /// The moment that much earlier, not before ``start``.
    @inlinable
    public static func - (instant: Instant, span: Nanoseconds) -> Instant {
        Instant(nanoseconds: instant.nanoseconds > span.count ? instant.nanoseconds &- span.count : 0)
    }
}

extension Instant: Comparable {
    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}
