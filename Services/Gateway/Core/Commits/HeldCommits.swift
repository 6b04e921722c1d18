import DequeModule

/// The commits that wait for credit, by shard, in order.
///
/// One that ends before its turn leaves its entry behind, which is passed over later, or removed with others when most
/// entries of the shard are such.
struct HeldCommits {
    /// A place in the order, which is given once.
    typealias Place = UInt64

    private struct Entry {
        let key: InFlightKey
        let place: Place
    }

    private struct Line {
        var entries: Deque<Entry> = []
        var count = 0
    }

    private var lines: [Int: Line] = [:]
    private var waiting: Set<Place> = []
    private var lastPlace: Place = 0
    /// So many entries may be left behind, whatever the number of those that wait.
    private static let slack = 64

    var count: Int { self.waiting.count }

    func areWaiting(in shard: Int) -> Bool { !self.waiting.isEmpty && self.lines[shard] != nil }

    /// How many entries there are, those left behind included.
    var entryCount: Int { self.lines.values.reduce(0) { $0 + $1.entries.count } }

    /// A commit waits behind all others of its shard.
    /// - Returns: its place.
    mutating func append(_ key: InFlightKey, in shard: Int) -> Place {
        self.lastPlace += 1
        self.waiting.insert(self.lastPlace)
        self.lines[shard, default: Line()].entries.append(Entry(key: key, place: self.lastPlace))
        self.lines[shard, default: Line()].count += 1
        return self.lastPlace
    }

    /// The commit at this place does not wait any more.
    mutating func remove(_ place: Place, in shard: Int) {
        guard self.waiting.remove(place) != nil, var line = exchange(&self.lines[shard], with: nil) else { return }
        line.count -= 1
        guard line.count > 0 else { return }
        if line.entries.count > 2 * line.count + Self.slack {
            line.entries.removeAll { !self.waiting.contains($0.place) }
        }
        self.lines[shard] = line
    }

    /// The commit of a shard that has waited longest.
    mutating func first(in shard: Int) -> InFlightKey? {
        while let entry = self.lines[shard]?.entries.first {
            if self.waiting.contains(entry.place) { return entry.key }
            self.lines[shard]?.entries.removeFirst()
        }
        return nil
    }

    mutating func removeAll(in shard: Int) -> [InFlightKey] {
        guard let line = self.lines.removeValue(forKey: shard) else { return [] }
        return line.entries.filter { self.waiting.remove($0.place) != nil }.map(\.key)
    }
}
