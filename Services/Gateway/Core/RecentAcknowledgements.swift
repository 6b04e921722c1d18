import Wire

/// The highest number that was acknowledged in each room a moment ago. Reads and joins carry it, so that who has an
/// acknowledgement in hand does not read a room that stands before it. After a while every fan-out has seen it anyway.
struct RecentAcknowledgements {
    private var young: [Identifier: UInt64] = [:]
    private var old: [Identifier: UInt64] = [:]
    private var turnedAt: UInt64 = 0

    /// How long a number is remembered at least, ms; at most twice as long.
    static let memoryMs: UInt64 = 2000

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
    mutating func forget(at now: UInt64) {
        guard now >= self.turnedAt + Self.memoryMs else { return }
        self.turnedAt = now
        self.old = self.young
        self.young = [:]
    }

    var isEmpty: Bool { self.young.isEmpty && self.old.isEmpty }
}
