package import Timing

/// The least time between two deliveries of a room's previews, in milliseconds.
package enum FlushInterval: UInt64, CaseIterable, Comparable, Sendable {
    /// They are delivered as they come.
    case none = 0
    case short = 33
    case middle = 66
    case long = 200

    package var length: Nanoseconds { .milliseconds(self.rawValue) }

    /// The longest that a member's preview waits before it is sent on: with the wait at the other end, at most seven eighths
    /// of ``length``, the last preview of a burst is shown within 250 ms.
    package var sending: Nanoseconds { min(self.length, Self.middle.length) }

    /// How far apart apps are asked to send previews.
    /// - Parameter usual: what they are asked when all is well.
    package func requested(usual: Nanoseconds) -> Nanoseconds { max(usual, self.length) }

    /// The next one; the longest has none.
    var longer: FlushInterval? { Self.allCases.first { $0 > self } }
    /// The one before; the shortest has none.
    var shorter: FlushInterval? { Self.allCases.last { $0 < self } }

    package static func < (one: FlushInterval, other: FlushInterval) -> Bool { one.rawValue < other.rawValue }
}
