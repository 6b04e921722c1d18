import DequeModule
import Timing
import Wire

/// The index of an entry in the coalescer's table.
typealias EntryIndex = Int

/// The known keys and their expiry.
///
/// All entries are in one queue. An entry that reaches the front after `memory` without traffic in the meantime is
/// evicted, the others move to the end: an idle key is gone after one to two times `memory`, at a cost independent of
/// the number of keys. The same queue provides the victim when there are too many keys.
struct KeyTable {
    /// An entry's position in the eviction queue.
    private struct Aging {
        let entry: EntryIndex
        /// Since when it is in the queue.
        let since: Instant
    }

    private let limits: CoalescerLimits
    private var index: [EntryKey: EntryIndex] = [:]
    private var entries: [Entry] = []
    private var free: [EntryIndex] = []
    private var aging: Deque<Aging> = []
    /// Keys evicted because there were too many.
    private(set) var evicted: UInt64 = 0

    /// How many entries are examined for one to evict: the first half of them for an idle one.
    private static let victimSearch = 16

    init(limits: CoalescerLimits) {
        self.limits = limits
    }

    /// The number of known keys.
    var count: Int { self.index.count }

    subscript(index: EntryIndex) -> Entry {
        _read { yield self.entries[index] }
        _modify { yield &self.entries[index] }
    }

    /// The entry of a key; nil when it is not known.
    func find(_ key: EntryKey) -> EntryIndex? { self.index[key] }

    /// The entry of a key, created if needed. If there are too many keys, another one is evicted; nil when all examined
    /// ones have held previews.
    mutating func entry(of key: EntryKey, at now: Instant) -> EntryIndex? {
        if let known = self.index[key] {
            self.entries[known].touchedAt = now
            return known
        }
        if self.index.count >= self.limits.maxEntries, !self.evictOne(at: now) { return nil }
        return self.add(Entry(key: key, at: now), at: now)
    }

    /// Evicts keys without recent traffic. Cheap when there are none; call it in every turn.
    mutating func forgetSilent(at now: Instant) {
        while let first = self.aging.first, now >= first.since + self.limits.memory {
            self.aging.removeFirst()
            let entry = self.entries[first.entry]
            if now >= entry.touchedAt + self.limits.memory, !entry.isQueued {
                self.remove(first.entry)
            } else {
                self.aging.append(Aging(entry: first.entry, since: now))
            }
        }
    }

    /// Evicts one key without a held preview, preferably an idle one.
    /// - Returns: false when there was none among the first of the queue.
    private mutating func evictOne(at now: Instant) -> Bool {
        let count = min(Self.victimSearch, self.aging.count)
        for look in 0..<count {
            let first = self.aging.removeFirst()
            let entry = self.entries[first.entry]
            let isSilent = entry.touchedAt <= first.since
            if !entry.isQueued, isSilent || look >= count / 2 {
                self.evicted += 1
                self.remove(first.entry)
                return true
            }
            self.aging.append(Aging(entry: first.entry, since: now))
        }
        return false
    }

    private mutating func add(_ entry: Entry, at now: Instant) -> EntryIndex {
        let added = self.free.popLast() ?? self.entries.count
        if added == self.entries.count { self.entries.append(entry) } else { self.entries[added] = entry }
        self.index[entry.key] = added
        self.aging.append(Aging(entry: added, since: now))
        return added
    }

    private mutating func remove(_ entry: EntryIndex) {
        self.index[self.entries[entry].key] = nil
        self.entries[entry] = Entry(key: EntryKey("", "", 0), at: .start)
        self.free.append(entry)
    }
}
