internal import Canvas
internal import Wire

/// Previews of one room that wait for an update, the latest for each element and connection. Bounded in number; when
/// it is full, another key is refused.
struct PreviewPark: Sendable {
    struct Parked: Sendable {
        var preview: Preview
        var deadline: UInt64
    }

    private var parked: [Parked] = []

    var isEmpty: Bool { self.parked.isEmpty }
    var count: Int { self.parked.count }
    var deadline: UInt64? { self.parked.lazy.map(\.deadline).min() }

    /// Keeps a preview; folds it into the waiting one of the same element and connection. False when it is full.
    mutating func keep(_ preview: Preview, until deadline: UInt64, limit: Int) -> Bool {
        if let index = self.index(of: preview) {
            self.parked[index].preview.fold(in: preview)
            self.parked[index].deadline = deadline
            return true
        }
        guard self.parked.count < limit else { return false }
        self.parked.append(Parked(preview: preview, deadline: deadline))
        return true
    }

    /// Takes out the waiting preview of the same element and connection.
    mutating func take(like preview: Preview) -> Preview? {
        guard !self.parked.isEmpty, let index = self.index(of: preview) else { return nil }
        return self.parked.remove(at: index).preview
    }

    /// Takes out those that need no update after `seq`.
    mutating func take(upTo seq: UInt64) -> [Preview] {
        guard !self.parked.isEmpty else { return [] }
        let free = self.parked.filter { $0.preview.after <= seq }.map(\.preview)
        if !free.isEmpty { self.parked.removeAll { $0.preview.after <= seq } }
        return free
    }

    /// Drops those that have waited too long, and says how many.
    mutating func expire(at now: UInt64) -> Int {
        let before = self.parked.count
        self.parked.removeAll { $0.deadline <= now }
        return before - self.parked.count
    }

    private func index(of preview: Preview) -> Int? {
        self.parked.firstIndex {
            $0.preview.connection == preview.connection && $0.preview.element == preview.element
        }
    }
}

extension Preview {
    /// Takes a newer preview of the same element and connection into this one: the newer fields win; a newer gesture
    /// replaces it whole, one of an older gesture is only counted.
    mutating func fold(in newer: Preview) {
        guard newer.gesture >= self.gesture else {
            self.folded = self.folded &+ newer.folded
            return
        }
        var merged = newer
        if newer.gesture == self.gesture {
            merged.fields = self.fields
            merged.fields.merge(newer.fields)
        }
        merged.after = max(self.after, newer.after)
        merged.folded = self.folded &+ newer.folded
        merged.sinceLast = self.sinceLast &+ newer.sinceLast
        self = merged
    }
}
