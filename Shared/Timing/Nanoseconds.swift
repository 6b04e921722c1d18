/// A span of time, never negative, to the nanosecond. Sums and products stop at the longest span, about 584 years.
///
/// Eight bytes beside the sixteen of `Duration`, whose arithmetic divides 128-bit numbers: cores add spans to moments
/// for every message.
public struct Nanoseconds: Hashable, Sendable {
    public var count: UInt64

    @inlinable
    public init(_ count: UInt64) {
        self.count = count
    }

    public static let zero = Nanoseconds(0)

    /// The longest span.
    public static let forever = Nanoseconds(.max)

    @inlinable
    public static func microseconds(_ count: UInt64) -> Nanoseconds { Nanoseconds(1000) * count }

    @inlinable
    public static func milliseconds(_ count: UInt64) -> Nanoseconds { Nanoseconds(1_000_000) * count }

    @inlinable
    public static func seconds(_ count: UInt64) -> Nanoseconds { Nanoseconds(1_000_000_000) * count }

    /// Its whole milliseconds, rounded down.
    @inlinable
    public var milliseconds: UInt64 { self.count / 1_000_000 }

    /// Its seconds with their fraction.
    @inlinable
    public var seconds: Double { Double(self.count) / 1e9 }

    @inlinable
    public static func + (left: Nanoseconds, right: Nanoseconds) -> Nanoseconds {
        let (sum, isTooLong) = left.count.addingReportingOverflow(right.count)
        return isTooLong ? Nanoseconds(.max) : Nanoseconds(sum)
    }

    /// What `left` is longer than `right`; zero when it is shorter.
    @inlinable
    public static func - (left: Nanoseconds, right: Nanoseconds) -> Nanoseconds {
        Nanoseconds(left.count > right.count ? left.count &- right.count : 0)
    }

    @inlinable
    public static func * (span: Nanoseconds, factor: UInt64) -> Nanoseconds {
        let (product, isTooLong) = span.count.multipliedReportingOverflow(by: factor)
        return isTooLong ? Nanoseconds(.max) : Nanoseconds(product)
    }

    @inlinable
    public static func / (span: Nanoseconds, divisor: UInt64) -> Nanoseconds { Nanoseconds(span.count / divisor) }

    /// A part of the span, rounded down.
    /// - Parameter share: from 0 to 1.
    public func part(_ share: Double) -> Nanoseconds { Nanoseconds(UInt64(Double(self.count) * share)) }

    @inlinable
    public static func += (left: inout Nanoseconds, right: Nanoseconds) { left = left + right }
}

extension Nanoseconds: Comparable {
    @inlinable
    public static func < (left: Nanoseconds, right: Nanoseconds) -> Bool { left.count < right.count }
}

extension Nanoseconds {
    /// A duration as a span; zero for a negative one.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self =
            seconds < 0 || attoseconds < 0
            ? .zero : .seconds(UInt64(seconds)) + Nanoseconds(UInt64(attoseconds / 1_000_000_000))
    }
}
