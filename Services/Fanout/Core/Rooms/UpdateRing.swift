internal import DequeModule
internal import Timing
internal import Wire

/// A room's last updates without a hole, bounded in number and bytes; the oldest go first.
struct UpdateRing: Sendable {
    private var updates: Deque<Update> = []
    private var arrivals: Deque<Instant> = []
    /// Roughly the bytes of the updates in it.
    private(set) var bytes = 0

    var count: Int { self.updates.count }

    /// Adds the next update and lets old ones go.
    mutating func append(_ update: Update, at now: Instant, maxCount: Int, maxBytes: Int) {
        if let last = self.updates.last, last.seq + 1 != update.seq { self.removeAll() }
        self.updates.append(update)
        self.arrivals.append(now)
        self.bytes += update.footprint
        while self.updates.count > maxCount || (self.bytes > maxBytes && self.updates.count > 1) {
            self.bytes -= self.updates.removeFirst().footprint
            self.arrivals.removeFirst()
        }
    }

    mutating func removeAll() {
        self.updates.removeAll()
        self.arrivals.removeAll()
        self.bytes = 0
    }

    /// True when every update from `seq` to the last one is there.
    func covers(from seq: UInt64) -> Bool {
        guard let first = self.updates.first else { return false }
        return first.seq <= seq
    }

    /// The updates from `seq` on, which ``covers(from:)`` must have affirmed.
    func suffix(from seq: UInt64) -> [Update] {
        guard let first = self.updates.first, seq >= first.seq else { return Array(self.updates) }
        return Array(self.updates.dropFirst(Int(clamping: seq - first.seq)))
    }

    /// The last updates with the moments at which they arrived, the oldest first.
    func latest(_ count: Int) -> [(update: Update, arrivedAt: Instant)] {
        zip(self.updates.suffix(count), self.arrivals.suffix(count)).map { ($0, $1) }
    }
}

extension Update {
    /// Roughly the bytes that it occupies in memory.
    var footprint: Int {
        256 + self.bytes.count + self.entries.count * 96
    }
}
