/// Previews that wait: one for each room, element and connection, in order of arrival. A newer preview is folded into
/// the waiting one of its key, so what waits is bounded by what moves, not by how often.
public struct LatestPreviews: Sendable {
    /// What previews are folded by.
    public struct Key: Hashable, Sendable {
        let room: Identifier
        let element: Identifier
        let connection: UInt64

        /// The key of a preview.
        public init(_ preview: Preview) {
            self.room = preview.room
            self.element = preview.element
            self.connection = preview.connection
        }
    }

    /// What became of an inserted preview.
    public enum Insertion: Equatable, Sendable {
        /// It waits, as the first of its key.
        case added
        /// It was folded into the waiting one of its key.
        case folded
        /// It was dropped: its key is a new one and there is no space for more.
        case refused
    }

    /// In order of arrival. Removed previews stay until they outnumber the others; no index leads to them.
    private var previews: [Preview] = []
    private var indices: [Key: Int] = [:]
    /// How many keys can wait.
    private let capacity: Int
    /// How many previews were refused.
    public private(set) var refusedCount: UInt64 = 0

    /// Nothing waits.
    /// - Parameter capacity: how many keys can wait; previews of further ones are refused.
    public init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    /// True when nothing waits.
    public var isEmpty: Bool { self.indices.isEmpty }
    /// How many keys wait.
    public var count: Int { self.indices.count }

    /// Adds a preview, folded into the waiting one of its key.
    @discardableResult
    public mutating func insert(_ preview: Preview) -> Insertion {
        let key = Key(preview)
        if let index = self.indices[key] {
            self.previews[index].fold(preview)
            return .folded
        }
        guard self.count < self.capacity else {
            self.refusedCount += 1
            return .refused
        }
        if self.previews.count > 2 * self.count + 16 { self.compact() }
        self.indices[key] = self.previews.count
        self.previews.append(preview)
        return .added
    }

    /// Removes the waiting preview of a key; nil when there is none.
    public mutating func remove(_ key: Key) -> Preview? {
        guard let index = self.indices.removeValue(forKey: key) else { return nil }
        let preview = self.previews[index]
        if self.isEmpty { self.previews.removeAll(keepingCapacity: true) }
        return preview
    }

    /// Removes every preview that meets a condition, and returns them in order of arrival.
    @discardableResult
    public mutating func removeAll(where isRemoved: (Preview) -> Bool) -> [Preview] {
        var removed: [Preview] = []
        for index in self.previews.indices where isRemoved(self.previews[index]) {
            let key = Key(self.previews[index])
            guard self.indices[key] == index else { continue }
            self.indices[key] = nil
            removed.append(self.previews[index])
        }
        if self.isEmpty { self.previews.removeAll(keepingCapacity: true) }
        return removed
    }

    /// Removes what must not be shown any more.
    /// - Returns: how many previews were removed.
    @discardableResult
    public mutating func remove(_ ended: [EndedPreviews]) -> Int {
        if self.isEmpty || ended.isEmpty { return 0 }
        if ended.count == 1 { return self.removeAll { ended[0].includes($0) }.count }
        let byElement = Dictionary(ended.map { ($0.element, $0) }) { first, _ in first }
        return self.removeAll { byElement[$0.element]?.includes($0) == true }.count
    }

    /// Removes and returns everything, in order of arrival.
    public mutating func takeAll() -> [Preview] {
        if self.previews.count > self.count { self.compact() }
        self.indices.removeAll(keepingCapacity: true)
        return exchange(&self.previews, with: [])
    }

    /// Removes and returns everything, the previews of one room together, rooms and previews in order of arrival.
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

    /// Removes everything and appends it to an envelope, in order of arrival.
    public mutating func drain(into envelope: inout EnvelopeWriter) {
        if self.previews.count > self.count { self.compact() }
        for preview in self.previews { envelope.append(preview) }
        self.indices.removeAll(keepingCapacity: true)
        self.previews.removeAll(keepingCapacity: true)
    }

    /// Forgets the removed previews.
    private mutating func compact() {
        let all = exchange(&self.previews, with: [])
        for (index, preview) in all.enumerated() {
            let key = Key(preview)
            guard self.indices[key] == index else { continue }
            self.indices[key] = self.previews.count
            self.previews.append(preview)
        }
    }
}
