/// Schedules the reads of slow readers.
package struct SlowReaders {
    /// Up to ten reads a second.
    private static let period: Int64 = 100_000_000

    /// Places of the clients.
    package let members: [Int]
    /// The size of one read, bytes.
    package let bytes: Int
    private let period: Int64
    /// The next time to read.
    package private(set) var nextDeadline = Int64.max

    /// - Parameter rate: bytes per second of each; with 0 they never read.
    package init(_ members: [Int], _ rate: Int) {
        self.members = members
        self.bytes = max(1, rate * Int(Self.period) / 1_000_000_000)
        self.period = rate > 0 ? Int64(self.bytes) * 1_000_000_000 / Int64(rate) : .max
    }

    /// Starts the schedule.
    package mutating func begin(at start: Int64) {
        if self.period < .max, !self.members.isEmpty { self.nextDeadline = min(self.nextDeadline, start) }
    }

    /// True when a read is due; schedules the next one.
    package mutating func takeTurn(at now: Int64) -> Bool {
        guard now >= self.nextDeadline else { return false }
        self.nextDeadline = max(now, self.nextDeadline + self.period)
        return true
    }
}
