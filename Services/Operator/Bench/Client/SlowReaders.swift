/// When those who read slowly read, and how much at once.
package struct SlowReaders {
    /// Up to ten reads a second.
    private static let period: Int64 = 100_000_000

    /// Places of the clients.
    package let members: [Int]
    /// Bytes of one read.
    package let bytes: Int
    private let period: Int64
    /// When they read next.
    package private(set) var nextDeadline = Int64.max

    /// - Parameter rate: bytes per second of each; with 0 they never read.
    package init(_ members: [Int], _ rate: Int) {
        self.members = members
        self.bytes = max(1, rate * Int(Self.period) / 1_000_000_000)
        self.period = rate > 0 ? Int64(self.bytes) * 1_000_000_000 / Int64(rate) : .max
    }

    /// They begin.
    package mutating func begin(at start: Int64) {
        if self.period < .max, !self.members.isEmpty { self.nextDeadline = min(self.nextDeadline, start) }
    }

    /// Whether they read now.
    package mutating func takeTurn(at now: Int64) -> Bool {
        guard now >= self.nextDeadline else { return false }
        self.nextDeadline = max(now, self.nextDeadline + self.period)
        return true
    }
}
