internal import DequeModule

/// Deadlines that all lie equally far ahead, so that they come due in the order in which they were set.
///
/// An entry is never taken back: who pops one asks whether it still means something. Its length is bounded by how
/// often an owner may set one before the oldest is due.
struct DeadlineQueue<Item: Sendable>: Sendable {
    private var entries: Deque<(at: UInt64, item: Item)> = []

    /// The earliest deadline.
    var next: UInt64? { self.entries.first?.at }

    /// Sets a deadline. One before the last set one would not be kept in order, so it is moved there.
    mutating func set(_ item: Item, at deadline: UInt64) {
        self.entries.append((max(deadline, self.entries.last?.at ?? 0), item))
    }

    /// The next item that is due.
    mutating func popDue(at now: UInt64) -> Item? {
        guard let first = self.entries.first, first.at <= now else { return nil }
        return self.entries.removeFirst().item
    }
}
