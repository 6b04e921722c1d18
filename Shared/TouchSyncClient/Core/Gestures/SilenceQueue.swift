/// When each element of a gesture under way was last heard of, the one that has been silent for longest first.
///
/// Each preview appends an entry, and makes the element's former one stale; stale entries are removed in passing, so that
/// a preview costs the same however many elements move.
struct SilenceQueue: Sendable {
    /// After this long without a preview a gesture counts as over, ms.
    private static let patience: Int64 = 2000

    private struct Entry: Sendable {
        let id: TextKey
        let serial: Int
        let heardAt: Int64
    }

    private var entries: [Entry] = []
    /// Where the entries begin that may not be stale.
    private var head = 0
    /// The serial number of each element's latest entry.
    private var latest: [TextKey: Int] = [:]
    private var lastSerial = 0

    /// When the first gesture is over, ms.
    var deadline: Int64? {
        self.entries[self.head...].first(where: self.isCurrent)?.heardAt.plus(Self.patience)
    }

    /// Whether a gesture on the element is under way.
    func isHeard(_ id: TextKey) -> Bool { self.latest[id] != nil }

    func overdue(at now: Int64) -> [TextKey] {
        let silent = self.entries[self.head...].prefix { now >= $0.heardAt.plus(Self.patience) }
        return silent.filter(self.isCurrent).map(\.id)
    }

    mutating func heard(_ id: TextKey, at now: Int64) {
        self.lastSerial += 1
        self.latest[id] = self.lastSerial
        self.entries.append(Entry(id: id, serial: self.lastSerial, heardAt: now))
        self.removeStale()
    }

    mutating func forget(_ id: TextKey) {
        self.latest[id] = nil
        self.removeStale()
    }

    private func isCurrent(_ entry: Entry) -> Bool { self.latest[entry.id] == entry.serial }

    /// Steps over stale entries, and frees them when they are the larger part.
    private mutating func removeStale() {
        while self.head < self.entries.count, !self.isCurrent(self.entries[self.head]) { self.head += 1 }
        guard self.head * 2 > self.entries.count else { return }
        self.entries.removeFirst(self.head)
        self.head = 0
    }
}
