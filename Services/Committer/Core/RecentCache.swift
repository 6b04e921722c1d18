/// A bounded dictionary that keeps what was used lately.
///
/// Two generations: what is looked up or stored moves into the young one; ``trim()`` makes the young generation the
/// old one, and forgets the old, when the young has grown to half of the bound. Nothing is forgotten between two trims,
/// so that all that one batch needs can be there at once, however much that is.
struct RecentCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let limit: Int

    /// A cache that holds about `limit` entries after a trim.
    init(limit: Int) {
        self.limit = limit
    }

    /// How many entries there are, some perhaps counted twice.
    var count: Int { self.young.count + self.old.count }

    /// The entry, which counts as used.
    mutating func use(_ key: Key) -> Value? {
        if let value = self.young[key] { return value }
        guard let value = self.old.removeValue(forKey: key) else { return nil }
        self.young[key] = value
        return value
    }

    /// Stores an entry.
    mutating func store(_ value: Value, for key: Key) {
        self.young[key] = value
    }

    /// Forgets an entry.
    mutating func forget(_ key: Key) {
        self.young[key] = nil
        self.old[key] = nil
    }

    /// Forgets what was not used lately, if there is too much.
    mutating func trim() {
        if self.young.count * 2 <= self.limit { return }
        // A single batch may bring more than the bound: then nothing of it is worth keeping over the rest.
        self.old = self.young.count <= self.limit ? self.young : [:]
        self.young = [:]
    }

    /// Forgets everything.
    mutating func clear() {
        self.young = [:]
        self.old = [:]
    }
}
