internal import DequeModule

/// Deadlines that all lie equally far ahead, so that they come due in the order in which they were set.
///
/// An entry is never withdrawn: the owner asks of each due item whether it still means something. The queue's length is
/// bounded by how often its owner may set a deadline before the oldest comes due.
package struct DeadlineQueue<Item: Sendable>: Sendable {
    private var entries: Deque<(at: Instant, item: Item)> = []

    /// No deadlines.
    package init() {}

    /// The earliest deadline, ``Instant/never`` when there is none.
    package var next: Instant { self.entries.first?.at ?? .never }

    /// Sets a deadline. One before the last set one is moved there, since the order could not be kept.
    package mutating func set(_ item: Item, at deadline: Instant) {
        self.entries.append((max(deadline, self.entries.last?.at ?? .start), item))
    }

    /// Removes and returns the next item that is due at `now`.
    package mutating func popDue(at now: Instant) -> Item? {
        guard let first = self.entries.first, first.at <= now else { return nil }
        return self.entries.removeFirst().item
    }
}
