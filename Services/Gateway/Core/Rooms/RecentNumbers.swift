import Timing
import Wire

/// The highest number of each room that apps here saw a moment ago, acknowledged or delivered to members who have gone
/// since. Reads and joins carry it, so that no app reads a room that stands before what it has seen. After a while every
/// fan-out has seen it anyway.
struct RecentNumbers {
    private var young: [Identifier: UInt64] = [:]
    private var old: [Identifier: UInt64] = [:]
    private var turnedAt = Instant.start

    /// How long a number is remembered at least; at most twice as long.
    static let memory = Nanoseconds.seconds(2)

    /// The highest number seen lately; 0: none.
    func number(in room: Identifier) -> UInt64 {
        max(self.young[room] ?? 0, self.old[room] ?? 0)
    }

    /// An app saw a number.
    mutating func note(_ seq: UInt64, in room: Identifier) {
        Self.raise(&self.young[room, default: 0], to: seq)
    }

    private static func raise(_ known: inout UInt64, to seq: UInt64) {
        known = max(known, seq)
    }

    /// Forgets what is old.
    mutating func timeReached(_ now: Instant) {
        guard now >= self.turnedAt + Self.memory else { return }
        self.turnedAt = now
        self.old = self.young
        self.young = [:]
    }
}
