/// A queue of what connections show of their persons: the latest of each key, in the order in which these came.
public struct LatestAwareness: Sendable {
    /// In order; nil where a newer one has taken the place of an older one.
    private var entries: [Awareness?] = []
    private var indices: [Awareness.Key: Int] = [:]
    private let capacity: Int

    /// Creates an empty queue.
    /// - Parameter capacity: the maximum number of keys.
    public init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    public var isEmpty: Bool { self.indices.isEmpty }
    /// The number of keys.
    public var count: Int { self.indices.count }

    /// About the bytes that the queue occupies. What values refer to is not counted: copies share it.
    public var occupiedBytes: Int {
        let index = MemoryLayout<Awareness.Key>.stride + MemoryLayout<Int>.stride
        // Hash tables are at most three quarters full.
        return self.entries.capacity * MemoryLayout<Awareness?>.stride + self.indices.capacity * index * 4 / 3
    }

    /// Adds the latest of its key, at the end.
    /// - Returns: false when its key is new and the capacity is reached.
    @discardableResult
    public mutating func insert(_ awareness: Awareness) -> Bool {
        var latest = awareness
        let key = awareness.key
        if let index = self.indices[key], let older = self.entries[index].take() {
            latest.replace(older)
        } else if self.count >= self.capacity {
            return false
        }
        if self.entries.count > 2 * self.count + 16 { self.compact() }
        self.indices[key] = self.entries.count
        self.entries.append(latest)
        return true
    }

    /// Removes those of a room.
    public mutating func removeAll(of room: Identifier) {
        for (key, index) in self.indices where key.room == room {
            self.entries[index] = nil
            self.indices[key] = nil
        }
    }

    /// Removes and returns all, in order.
    public mutating func takeAll() -> [Awareness] {
        self.indices.removeAll(keepingCapacity: true)
        return exchange(&self.entries, with: []).compactMap { $0 }
    }

    /// The latest of each key, those of a room together.
    public static func folded(_ awareness: [Awareness]) -> [Awareness] {
        var latest = LatestAwareness()
        for one in awareness { latest.insert(one) }
        var rooms: [Identifier: [Awareness]] = [:]
        var order: [Identifier] = []
        for one in latest.takeAll() {
            if rooms[one.room] == nil { order.append(one.room) }
            rooms[one.room, default: []].append(one)
        }
        return order.flatMap { rooms[$0] ?? [] }
    }

    private mutating func compact() {
        self.entries = self.entries.compactMap { $0 }
        for (index, awareness) in self.entries.enumerated() {
            if let awareness { self.indices[awareness.key] = index }
        }
    }
}
