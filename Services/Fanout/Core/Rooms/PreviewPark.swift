internal import Timing
internal import Wire

/// Previews of one room that wait for an update, the latest for each element and connection. Bounded in number; when
/// it is full, previews of further keys are refused.
struct PreviewPark: Sendable {
    private var previews: LatestRecords<Preview>
    private var deadlines: [Preview.Key: Instant] = [:]

    init(capacity: Int) {
        self.previews = LatestRecords(capacity: capacity)
    }

    var isEmpty: Bool { self.previews.isEmpty }
    /// When the first of them has waited long enough.
    var deadline: Instant? { self.deadlines.values.min() }

    /// Parks a preview, folded into the waiting one of its key. Returns false when the park is full.
    mutating func park(_ preview: Preview, until deadline: Instant) -> Bool {
        guard self.previews.insert(preview) != .refused else { return false }
        self.deadlines[preview.key] = deadline
        return true
    }

    /// Removes the waiting preview of the same key and folds a newer one into it; the newer one alone when none waits.
    mutating func unpark(foldedWith newer: Preview) -> Preview {
        if self.isEmpty { return newer }
        let key = newer.key
        guard var preview = self.previews.remove(key) else { return newer }
        self.deadlines[key] = nil
        preview.replace(by: newer)
        return preview
    }

    /// Removes those that need no update after `seq`, in the order in which they came.
    mutating func release(upTo seq: UInt64) -> [Preview] {
        let free = self.previews.removeAll { $0.after <= seq }
        for preview in free { self.deadlines[preview.key] = nil }
        return free
    }

    /// Drops those that have waited until their deadline, and returns how many.
    mutating func expire(at now: Instant) -> Int {
        let deadlines = self.deadlines.filter { $0.value > now }
        let expired = self.previews.removeAll { deadlines[$0.key] == nil }
        self.deadlines = deadlines
        return expired.count
    }
}
