internal import DequeModule
internal import Timing
internal import Wire

/// A room's last updates without a gap, bounded in number and bytes; the oldest go first.
struct UpdateRing: Sendable {
    private var updates: Deque<(update: Update, arrivedAt: Instant)> = []
    /// Roughly the bytes of the updates in it.
    private(set) var bytes = 0

    /// Adds the next update and lets old ones go.
    mutating func append(_ update: Update, at now: Instant, maxCount: Int, maxBytes: Int) {
        if let last = self.updates.last?.update, last.seq + 1 != update.seq { self.removeAll() }
        self.updates.append((update, now))
        self.bytes += update.footprint
        while self.updates.count > maxCount || (self.bytes > maxBytes && self.updates.count > 1) {
            self.bytes -= self.updates.removeFirst().update.footprint
        }
    }

    mutating func removeAll() {
        self.updates.removeAll()
        self.bytes = 0
    }

    /// The updates from `seq` on; nil when they are not all there.
    func suffix(from seq: UInt64) -> [Update]? {
        guard let first = self.updates.first?.update.seq, first <= seq else { return nil }
        return self.updates.dropFirst(Int(clamping: seq - first)).map(\.update)
    }

    /// The last updates with the moments at which they arrived, the oldest first.
    func latest(_ count: Int) -> [(update: Update, arrivedAt: Instant)] { Array(self.updates.suffix(count)) }
}

extension Update {
    /// Roughly the bytes that it occupies in memory.
    var footprint: Int { 256 + self.bytes.count + self.entries.count * 96 }
}
