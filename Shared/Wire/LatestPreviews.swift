/// A queue of previews: one for each room, element and connection, in order of arrival. A newer preview takes the place of
/// the pending one of its key, so the size is bounded by the number of moving elements, not by the rate.
public struct LatestPreviews: Sendable {
    /// The key by which previews are folded.
    public struct Key: Hashable, Sendable {
        let room: Identifier
        let element: Identifier
        let connection: UInt64

        public init(_ preview: Preview) {
            self.room = preview.room
            self.element = preview.element
            self.connection = preview.connection
        }
    }

    /// The outcome of an insertion.
    public enum Insertion: Equatable, Sendable {
        /// Added, as the first of its key.
        case added
        /// Folded into the pending one of its key.
        case folded
        /// Dropped: its key is new and the capacity is reached.
        case refused
    }

    private struct Subject: Hashable, Sendable {
        let room: Identifier
        let element: Identifier
    }

    /// In order of arrival. Removed previews stay until they outnumber the others; no index refers to them.
    private var previews: [Preview] = []
    private var indices: [Key: Int] = [:]
    /// The indices of each element's previews, some of them removed since; nil until gestures end while many are pending.
    private var bySubject: [Subject: [Int]]?
    /// So few are searched one by one.
    private static let few = 64
    /// The maximum number of pending keys.
    private let capacity: Int
    /// How many previews were refused.
    public private(set) var refusedCount: UInt64 = 0

    /// Creates an empty queue.
    /// - Parameter capacity: the maximum number of pending keys; previews of further ones are refused.
    public init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    /// True when nothing is pending.
    public var isEmpty: Bool { self.indices.isEmpty }
    /// The number of pending keys.
    public var count: Int { self.indices.count }

    /// About the bytes that the queue occupies, the space of removed previews included. What previews refer to is not
    /// counted: copies share it.
    public var occupiedBytes: Int {
        let index = MemoryLayout<Key>.stride + MemoryLayout<Int>.stride
        let subject = MemoryLayout<Subject>.stride + MemoryLayout<[Int]>.stride + Self.shortArray
        // Hash tables are at most three quarters full.
        return self.previews.capacity * MemoryLayout<Preview>.stride
            + (self.indices.capacity * index + (self.bySubject?.capacity ?? 0) * subject) * 4 / 3
    }

    /// About the bytes of an array of one or two indices.
    private static let shortArray = 48

    /// Adds a preview, folded into the pending one of its key.
    @discardableResult
    public mutating func insert(_ preview: Preview) -> Insertion {
        let key = Key(preview)
        if let index = self.indices[key] {
            self.previews[index].replace(by: preview)
            return .folded
        }
        guard self.count < self.capacity else {
            self.refusedCount += 1
            return .refused
        }
        if self.previews.count > 2 * self.count + 16 { self.compact() }
        self.indices[key] = self.previews.count
        self.bySubject?[Subject(room: preview.room, element: preview.element), default: []].append(self.previews.count)
        self.previews.append(preview)
        return .added
    }

    /// Removes the pending preview of a key; nil when there is none.
    public mutating func remove(_ key: Key) -> Preview? {
        guard let index = self.indices.removeValue(forKey: key) else { return nil }
        let preview = self.previews[index]
        self.releaseIfEmpty()
        return preview
    }

    /// Removes every preview that meets a condition, and returns them in order of arrival.
    @discardableResult
    public mutating func removeAll(where isRemoved: (Preview) -> Bool) -> [Preview] {
        self.removeAll(at: Array(self.previews.indices), where: isRemoved)
    }

    /// Removes the previews that must no longer be shown. The cost is that of the ended ones, not of all.
    /// - Returns: how many previews were removed.
    @discardableResult
    public mutating func remove(_ ended: [EndedPreviews]) -> Int {
        if self.isEmpty || ended.isEmpty { return 0 }
        if self.previews.count > Self.few, self.bySubject == nil { self.group() }
        return ended.reduce(0) { count, one in
            let subject = Subject(room: one.room, element: one.element)
            let indices = self.bySubject.map { $0[subject] ?? [] } ?? Array(self.previews.indices)
            return count + self.removeAll(at: indices) { one.includes($0) }.count
        }
    }

    private mutating func removeAll(at indices: [Int], where isRemoved: (Preview) -> Bool) -> [Preview] {
        var removed: [Preview] = []
        for index in indices where isRemoved(self.previews[index]) {
            let key = Key(self.previews[index])
            guard self.indices[key] == index else { continue }
            self.indices[key] = nil
            removed.append(self.previews[index])
        }
        self.releaseIfEmpty()
        return removed
    }

    /// Removes and returns all previews, in order of arrival.
    public mutating func takeAll() -> [Preview] {
        if self.previews.count > self.count { self.compact() }
        self.indices.removeAll(keepingCapacity: true)
        self.bySubject = nil
        return exchange(&self.previews, with: [])
    }

    /// Removes and returns all previews grouped by room, rooms and previews in order of arrival.
    public mutating func takeAllByRoom() -> [Preview] {
        var roomIndices: [Identifier: Int] = [:]
        var rooms: [[Preview]] = []
        for preview in self.takeAll() {
            let index = roomIndices[preview.room] ?? rooms.count
            if index == rooms.count {
                roomIndices[preview.room] = index
                rooms.append([])
            }
            rooms[index].append(preview)
        }
        return Array(rooms.joined())
    }

    /// The latest of each room, element and connection, in the order of ``takeAllByRoom()``.
    public static func folded(_ previews: [Preview]) -> [Preview] {
        var latest = LatestPreviews()
        for preview in previews { latest.insert(preview) }
        return latest.takeAllByRoom()
    }

    /// Removes all previews and returns them in envelopes, in order of arrival.
    public mutating func drainIntoEnvelopes() -> [[UInt8]] {
        if self.previews.count > self.count { self.compact() }
        var envelopes: [[UInt8]] = []
        var envelope = EnvelopeWriter()
        for preview in self.previews {
            if envelope.isFull { envelopes.append(envelope.take()) }
            envelope.append(preview)
        }
        if !envelope.isEmpty { envelopes.append(envelope.take()) }
        self.indices.removeAll(keepingCapacity: true)
        self.releaseIfEmpty()
        return envelopes
    }

    private mutating func releaseIfEmpty() {
        guard self.isEmpty else { return }
        self.previews.removeAll(keepingCapacity: true)
        self.bySubject = nil
    }

    private mutating func group() {
        self.bySubject = Dictionary(grouping: self.previews.indices) { index in
            Subject(room: self.previews[index].room, element: self.previews[index].element)
        }
    }

    /// Discards the removed previews.
    private mutating func compact() {
        self.bySubject = nil
        let all = exchange(&self.previews, with: [])
        for (index, preview) in all.enumerated() {
            let key = Key(preview)
            guard self.indices[key] == index else { continue }
            self.indices[key] = self.previews.count
            self.previews.append(preview)
        }
    }
}
