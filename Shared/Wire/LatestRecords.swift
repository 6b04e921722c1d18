/// A record that takes the place of older ones with the same key: a preview, or a part of a person's awareness.
public protocol KeyedRecord: WireRecord, Sendable {
    associatedtype Key: Hashable, Sendable
    /// Of those with the same key the latest counts.
    var key: Key { get }
    var room: Identifier { get }
    /// The element or user that it is about.
    var subject: Identifier { get }
    /// Becomes a newer one of its key, and shows all the same what the older one leaves behind.
    mutating func replace(by newer: Self)
}

/// A queue of the latest record of each key, so its size is bounded by what moves, not by how often.
///
/// A record that takes the place of an older one goes to the end: the previews of a group that an app sent together stay
/// together.
public struct LatestRecords<Record: KeyedRecord>: Sendable {
    /// What became of a record.
    public enum Insertion: Equatable, Sendable {
        /// Added, as the first of its key.
        case added
        /// It has taken the place of an older one.
        case replaced
        /// Dropped: its key is new and the capacity is reached.
        case refused
    }

    private struct Subject: Hashable {
        let room: Identifier
        let name: Identifier
    }

    /// In the order in which their keys began to wait. Removed ones stay until they outnumber the others; no index refers to
    /// them.
    private var records: [Record] = []
    /// When the latest of each came, as a number that grows.
    private var arrivals: [UInt64] = []
    private var lastArrival: UInt64 = 0
    /// True when one was replaced, so that the order of arrivals is another one.
    private var isReordered = false
    private var indices: [Record.Key: Int] = [:]
    /// The indices of each subject's records, some of them removed by now; nil until previews end while many wait.
    private var bySubject: [Subject: [Int]]?
    /// So few are searched one by one.
    private static var few: Int { 64 }
    private let capacity: Int

    /// Creates an empty queue.
    /// - Parameter capacity: the maximum number of keys; records of further ones are refused.
    public init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    public var isEmpty: Bool { self.indices.isEmpty }
    /// The number of keys.
    public var count: Int { self.indices.count }

    /// About the bytes that the queue occupies, the space of removed records included. What records refer to is not
    /// counted: copies share it.
    public var occupiedBytes: Int {
        let index = MemoryLayout<Record.Key>.stride + MemoryLayout<Int>.stride
        let subject = MemoryLayout<Subject>.stride + MemoryLayout<[Int]>.stride + Self.shortArray
        // Hash tables are at most three quarters full.
        return self.records.capacity * MemoryLayout<Record>.stride + self.arrivals.capacity
            * MemoryLayout<UInt64>.stride
            + (self.indices.capacity * index + (self.bySubject?.capacity ?? 0) * subject) * 4 / 3
    }

    /// About the bytes of an array of one or two indices.
    private static var shortArray: Int { 48 }

    /// Adds the latest of its key, at the end.
    @discardableResult
    public mutating func insert(_ record: Record) -> Insertion {
        self.lastArrival += 1
        let key = record.key
        if let index = self.indices[key] {
            self.records[index].replace(by: record)
            self.arrivals[index] = self.lastArrival
            self.isReordered = true
            return .replaced
        }
        guard self.count < self.capacity else { return .refused }
        if self.records.count > 2 * self.count + 16 { self.compact() }
        self.indices[key] = self.records.count
        self.bySubject?[Subject(room: record.room, name: record.subject), default: []].append(self.records.count)
        self.records.append(record)
        self.arrivals.append(self.lastArrival)
        return .added
    }

    /// Removes every record that meets a condition.
    /// - Returns: how many were removed.
    @discardableResult
    public mutating func removeAll(where isRemoved: (Record) -> Bool) -> Int {
        self.removeAll(at: Array(self.records.indices), where: isRemoved)
    }

    private mutating func removeAll(at indices: [Int], where isRemoved: (Record) -> Bool) -> Int {
        let before = self.count
        for index in indices where isRemoved(self.records[index]) {
            let key = self.records[index].key
            if self.indices[key] == index { self.indices[key] = nil }
        }
        defer { self.releaseIfEmpty() }
        return before - self.count
    }

    /// Removes and returns all, in order.
    public mutating func takeAll() -> [Record] {
        self.arrange()
        return self.takeLongestWaiting()
    }

    /// Removes and returns all, first those whose keys have waited longest: for a receiver that takes them in part, so that
    /// none is overtaken for ever by what moves faster.
    public mutating func takeLongestWaiting() -> [Record] {
        self.compact()
        self.indices.removeAll(keepingCapacity: true)
        defer { self.releaseIfEmpty() }
        return exchange(&self.records, with: [])
    }

    /// Removes and returns all grouped by room, rooms in the order of their first records.
    public mutating func takeAllByRoom() -> [Record] {
        var roomIndices: [Identifier: Int] = [:]
        var rooms: [[Record]] = []
        for record in self.takeAll() {
            let index = roomIndices[record.room] ?? rooms.count
            if index == rooms.count {
                roomIndices[record.room] = index
                rooms.append([])
            }
            rooms[index].append(record)
        }
        return Array(rooms.joined())
    }

    /// The latest of each key, in the order of ``takeAllByRoom()``.
    public static func folded(_ records: [Record]) -> [Record] {
        var latest = LatestRecords()
        for record in records { latest.insert(record) }
        return latest.takeAllByRoom()
    }

    /// Brings the records into the order in which they came. All must be removed then: their indices are others.
    private mutating func arrange() {
        self.compact()
        guard self.isReordered else { return }
        let order = self.arrivals.indices.sorted { self.arrivals[$0] < self.arrivals[$1] }
        self.records = order.map { self.records[$0] }
    }

    private mutating func releaseIfEmpty() {
        guard self.isEmpty else { return }
        self.records.removeAll(keepingCapacity: true)
        self.arrivals.removeAll(keepingCapacity: true)
        self.isReordered = false
        self.bySubject = nil
    }

    /// Discards the removed records.
    private mutating func compact() {
        guard self.records.count > self.count else { return }
        self.bySubject = nil
        let (records, arrivals) = (exchange(&self.records, with: []), exchange(&self.arrivals, with: []))
        for (index, record) in records.enumerated() {
            let key = record.key
            guard self.indices[key] == index else { continue }
            self.indices[key] = self.records.count
            self.records.append(record)
            self.arrivals.append(arrivals[index])
        }
    }
}

extension Array where Element: KeyedRecord {
    /// The records with their rooms; those of one room that stand together are together.
    public var byRoom: some Sequence<(room: Identifier, records: ArraySlice<Element>)> {
        sequence(state: self[...]) { rest in
            guard let room = rest.first?.room else { return nil }
            let records = rest.prefix { $0.room == room }
            rest = rest.dropFirst(records.count)
            return (room, records)
        }
    }
}

extension LatestRecords where Record == Preview {
    /// Removes the previews that must no longer be shown. The cost is that of the ended ones, not of all.
    /// - Returns: how many previews were removed.
    @discardableResult
    public mutating func remove(_ ended: [EndedPreviews]) -> Int {
        if self.isEmpty || ended.isEmpty { return 0 }
        if self.records.count > Self.few, self.bySubject == nil { self.group() }
        return ended.reduce(0) { count, one in
            let subject = Subject(room: one.room, name: one.element)
            let indices = self.bySubject.map { $0[subject] ?? [] } ?? Array(self.records.indices)
            return count + self.removeAll(at: indices) { one.includes($0) }
        }
    }

    private mutating func group() {
        self.bySubject = Dictionary(grouping: self.records.indices) { index in
            Subject(room: self.records[index].room, name: self.records[index].subject)
        }
    }
}
