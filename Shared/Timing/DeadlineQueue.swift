internal import DequeModule

/// Deadlines that all lie equally far ahead, so that they come due in the order in which they were set.
///
/// An entry is never withdrawn: the owner asks of each due item whether it still means something. The queue's length is
/// bounded by how often its owner may set a deadline before the oldest comes due.
package struct DeadlineQueue<Item: Sendable>: Sendable {
    /// The earliest deadline, ``Instant/never`` when there is none. Kept apart, since loops ask for it in each turn.
    package private(set) var next = Instant.never
    private var entries: Deque<(at: Instant, item: Item)> = []

    package init() {}

    /// Sets a deadline. One before the last set one is moved there, since the order could not be kept.
    package mutating func set(_ item: Item, at deadline: Instant) {
        self.entries.append((max(deadline, self.entries.last?.at ?? .start), item))
        if self.entries.count == 1 { self.next = deadline }
    }

    /// Removes and returns the next item that is due at `now`.
    package mutating func popDue(at now: Instant) -> Item? {
        guard self.next <= now else { return nil }
        defer { self.next = self.entries.first?.at ?? .never }
        return self.entries.popFirst()?.item
    }
}
