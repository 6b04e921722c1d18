internal import Timing
internal import Wire

/// Previews of one room that came before the update that they must follow: the latest of each key. So few that they are
/// searched one by one.
struct ReorderBuffer: Sendable {
    /// With the moments until which they wait, in their order.
    private var waiting: [(preview: Preview, deadline: Instant)] = []
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var isEmpty: Bool { self.waiting.isEmpty }
    /// When the first of them has waited long enough.
    var deadline: Instant? { self.waiting.first?.deadline }

    /// Adds the only preview of its key, at the end.
    /// - Parameter deadline: not before that of any other.
    /// - Returns: false when the buffer is full.
    mutating func insert(_ preview: Preview, until deadline: Instant) -> Bool {
        guard self.waiting.count < self.capacity else { return false }
        self.waiting.append((preview, deadline))
        return true
    }

    /// Removes the waiting preview of the same key, which a newer one replaces; the newer one alone when none waits.
    mutating func remove(replacedBy newer: Preview) -> Preview {
        if self.isEmpty { return newer }
        let known = self.waiting.firstIndex {
            $0.preview.connection == newer.connection && $0.preview.element == newer.element
        }
        guard let known else { return newer }
        var preview = self.waiting.remove(at: known).preview
        preview.replace(by: newer)
        return preview
    }

    /// Removes those that need no update after `seq`, in order.
    mutating func release(upTo seq: UInt64) -> [Preview] {
        let free = self.waiting.filter { $0.preview.after <= seq }.map(\.preview)
        if !free.isEmpty { self.waiting.removeAll { $0.preview.after <= seq } }
        return free
    }

    /// Drops those that have waited until their deadline, and returns how many.
    mutating func expire(at now: Instant) -> Int {
        let expired = self.waiting.prefix { $0.deadline <= now }.count
        self.waiting.removeFirst(expired)
        return expired
    }
}
