import Timing
import Wire

/// The highest number that was acknowledged in each room a moment ago. Reads and joins carry it, so that an app that
/// has got an acknowledgement does not read a room that stands before it. After a while every fan-out has seen it anyway.
struct RecentAcknowledgements {
    private var young: [Identifier: UInt64] = [:]
    private var old: [Identifier: UInt64] = [:]
    private var turnedAt = Instant.start

    /// How long a number is remembered at least; at most twice as long.
    static let memory = Nanoseconds.seconds(2)

    /// The highest number acknowledged lately; 0: none.
    func number(in room: Identifier) -> UInt64 {
        max(self.young[room] ?? 0, self.old[room] ?? 0)
    }

    /// A commit was acknowledged.
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
