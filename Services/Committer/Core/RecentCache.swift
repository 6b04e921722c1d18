/// A bounded dictionary that keeps recently used entries.
///
/// It has two generations: an entry that is looked up or stored moves into the young one. When the young generation has
/// grown to half of the bound, ``trim()`` makes it the old one and evicts the previous old one. Nothing is evicted
/// between two trims, so that everything that one batch needs can be present at the same time, however much that is.
/// After a trim the weight is at most one and a half times the limit.
struct RecentCache<Key: Hashable & Sendable, Value: Weighed & Sendable>: Sendable {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private var youngWeight = 0
    private let limit: Int

    /// A cache for values of `limit` bytes in total.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of entries; some may be counted twice.
    var count: Int { self.young.count + self.old.count }

    /// The entry, which is marked as used.
    mutating func use(_ key: Key) -> Value? {
        if let value = self.young[key] { return value }
        guard let value = self.old.removeValue(forKey: key) else { return nil }
        self.store(value, for: key)
        return value
    }

    /// True when the entry exists, which is then marked as used. Nothing is copied.
    mutating func knows(_ key: Key) -> Bool {
        if self.young.index(forKey: key) != nil { return true }
        guard let value = self.old.removeValue(forKey: key) else { return false }
        self.store(value, for: key)
        return true
    }

    mutating func store(_ value: Value, for key: Key) {
        self.youngWeight += value.weight
        if let replaced = self.young.updateValue(value, forKey: key) { self.youngWeight -= replaced.weight }
    }

    mutating func forget(_ key: Key) {
        if let value = self.young.removeValue(forKey: key) { self.youngWeight -= value.weight }
        self.old[key] = nil
    }

    /// Evicts entries that were not used recently, if the bound is exceeded.
    mutating func trim() {
        if self.youngWeight * 2 <= self.limit { return }
        // A single batch may exceed the bound: then none of its entries are kept.
        self.old = self.youngWeight <= self.limit ? self.young : [:]
        self.young = [:]
        self.youngWeight = 0
    }

    mutating func clear() {
        self.young = [:]
        self.old = [:]
        self.youngWeight = 0
    }
}

/// A value with an estimated memory size.
protocol Weighed {
    /// The approximate size of its entry in a cache, including the key, bytes.
    var weight: Int { get }
}
