package import Timing

/// How often a room's previews are delivered: from as they come to not at all. Commits always are.
package enum Pace: Int, CaseIterable, Comparable, Sendable {
    /// As they come, which is with the coalescer's tick.
    case full
    case half
    case quarter
    case slow
    /// Previews wait, the latest of each, until there is time for them.
    case commitsOnly

    /// The least time between two deliveries of previews to a room; nil: none is delivered.
    package var interval: Nanoseconds? {
        switch self {
        case .full: .zero
        case .half: .milliseconds(33)
        case .quarter: .milliseconds(66)
        case .slow: .milliseconds(200)
        case .commitsOnly: nil
        }
    }

    /// How far apart apps are asked to send previews.
    /// - Parameter usual: what they are asked when all is well.
    package func requestedInterval(usual: Nanoseconds) -> Nanoseconds { max(usual, self.interval ?? .seconds(1)) }

    /// The next step down; nil at the last.
    package var slower: Pace? { Pace(rawValue: self.rawValue + 1) }
    /// The next step up; nil at the first.
    package var faster: Pace? { Pace(rawValue: self.rawValue - 1) }

    /// How many times as many deliveries a room makes one step up.
    var growth: Int { self == .slow ? 3 : 2 }

    /// The most previews that an app at full pace sends between two deliveries at this one. Apps that shall send none are
    /// counted as slow ones: that is the next step up.
    var span: Int { max(1, Int((self.interval ?? .milliseconds(200)).milliseconds) / 16) }

    package static func < (one: Pace, other: Pace) -> Bool { one.rawValue < other.rawValue }
}
