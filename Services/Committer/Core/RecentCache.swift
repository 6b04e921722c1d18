/// A bounded dictionary that keeps what was used lately.
///
/// Two generations: what is looked up or stored moves into the young one; ``trim()`` makes the young generation the
/// old one, and forgets the old, when the young has grown to half of the bound. Nothing is forgotten between two trims,
/// so that all that one batch needs can be there at once, however much that is. After a trim it weighs at most one and
/// a half times its limit.
struct RecentCache<Key: Hashable & Sendable, Value: Weighed & Sendable>: Sendable {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private var youngWeight = 0
    private let limit: Int

    /// A cache for values that weigh `limit` bytes in all.
    init(limit: Int) {
        self.limit = limit
    }

    /// How many entries there are, some perhaps counted twice.
    var count: Int { self.young.count + self.old.count }

    /// The entry, which counts as used.
    mutating func use(_ key: Key) -> Value? {
        if let value = self.young[key] { return value }
        guard let value = self.old.removeValue(forKey: key) else { return nil }
        self.store(value, for: key)
        return value
    }

    /// True when there is the entry, which counts as used. Nothing is copied.
    mutating func knows(_ key: Key) -> Bool {
        if self.young.index(forKey: key) != nil { return true }
        guard let value = self.old.removeValue(forKey: key) else { return false }
        self.store(value, for: key)
        return true
    }

    /// Stores an entry.
    mutating func store(_ value: Value, for key: Key) {
        self.youngWeight += value.weight
        if let replaced = self.young.updateValue(value, forKey: key) { self.youngWeight -= replaced.weight }
    }

    /// Forgets an entry.
    mutating func forget(_ key: Key) {
        if let value = self.young.removeValue(forKey: key) { self.youngWeight -= value.weight }
        self.old[key] = nil
    }

    /// Forgets what was not used lately, if there is too much.
    mutating func trim() {
        if self.youngWeight * 2 <= self.limit { return }
        // A single batch may bring more than the bound: then nothing of it is worth keeping over the rest.
        self.old = self.youngWeight <= self.limit ? self.young : [:]
        self.young = [:]
        self.youngWeight = 0
    }

    /// Forgets everything.
    mutating func clear() {
        self.young = [:]
        self.old = [:]
        self.youngWeight = 0
    }
}

/// Something whose share of memory can be estimated.
protocol Weighed {
    /// About how many bytes it takes in a cache, key included.
    var weight: Int { get }
}
