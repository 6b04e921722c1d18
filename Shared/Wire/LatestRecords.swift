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

    private struct Place {
        var index: Int
        /// When its key began to wait: grows with each key.
        let since: UInt64
    }

    private struct Subject: Hashable {
        let room: Identifier
        let name: Identifier
    }

    /// In order; nil where one was removed or replaced, until these outnumber the others.
    private var records: [Record?] = []
    private var places: [Record.Key: Place] = [:]
    private var lastSince: UInt64 = 0
    /// The indices of each subject's records, some of them nil by now; nil until previews end while many wait.
    private var bySubject: [Subject: [Int]]?
    /// So few are searched one by one.
    private static var few: Int { 64 }
    private let capacity: Int

    /// Creates an empty queue.
    /// - Parameter capacity: the maximum number of keys; records of further ones are refused.
    public init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    public var isEmpty: Bool { self.places.isEmpty }
    /// The number of keys.
    public var count: Int { self.places.count }

    /// About the bytes that the queue occupies, the space of removed records included. What records refer to is not
    /// counted: copies share it.
    public var occupiedBytes: Int {
        let place = MemoryLayout<Record.Key>.stride + MemoryLayout<Place>.stride
        let subject = MemoryLayout<Subject>.stride + MemoryLayout<[Int]>.stride + Self.shortArray
        // Hash tables are at most three quarters full.
        return self.records.capacity * MemoryLayout<Record?>.stride
            + (self.places.capacity * place + (self.bySubject?.capacity ?? 0) * subject) * 4 / 3
    }

    /// About the bytes of an array of one or two indices.
    private static var shortArray: Int { 48 }

    /// Adds the latest of its key, at the end.
    @discardableResult
    public mutating func insert(_ record: Record) -> Insertion {
        let key = record.key
        let known = self.places[key]
        if known == nil, self.count >= self.capacity { return .refused }
        var latest = record
        if let known, let older = self.records[known.index].take() {
            latest = older
            latest.replace(by: record)
        }
        if self.records.count > 2 * self.count + 16 { self.compact() }
        if known == nil { self.lastSince += 1 }
        self.places[key] = Place(index: self.records.count, since: known?.since ?? self.lastSince)
        self.bySubject?[Subject(room: record.room, name: record.subject), default: []].append(self.records.count)
        self.records.append(latest)
        return known == nil ? .added : .replaced
    }

    /// Removes every record that meets a condition.
    /// - Returns: how many were removed.
    @discardableResult
    public mutating func removeAll(where isRemoved: (Record) -> Bool) -> Int {
        self.removeAll(at: Array(self.records.indices), where: isRemoved)
    }

    private mutating func removeAll(at indices: [Int], where isRemoved: (Record) -> Bool) -> Int {
        let before = self.count
        for index in indices {
            guard let record = self.records[index], isRemoved(record) else { continue }
            self.records[index] = nil
            self.places[record.key] = nil
        }
        defer { self.releaseIfEmpty() }
        return before - self.count
    }

    /// Removes and returns all, in order.
    public mutating func takeAll() -> [Record] {
        defer { self.removeAll() }
        return self.records.compactMap { $0 }
    }

    /// Removes and returns all, first those whose keys have waited longest: for a receiver that takes them in part, so that
    /// none is overtaken for ever by what moves faster.
    public mutating func takeLongestWaiting() -> [Record] {
        defer { self.removeAll() }
        return self.places.values.sorted { $0.since < $1.since }.compactMap { self.records[$0.index] }
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

    /// Removes all and returns them in envelopes, in order.
    public mutating func drainIntoEnvelopes() -> [[UInt8]] {
        var envelopes: [[UInt8]] = []
        var envelope = EnvelopeWriter()
        for case let record? in self.records {
            if envelope.isFull { envelopes.append(envelope.take()) }
            envelope.append(record)
        }
        if !envelope.isEmpty { envelopes.append(envelope.take()) }
        self.removeAll()
        return envelopes
    }

    private mutating func removeAll() {
        self.places.removeAll(keepingCapacity: true)
        self.releaseIfEmpty()
    }

    private mutating func releaseIfEmpty() {
        guard self.isEmpty else { return }
        self.records.removeAll(keepingCapacity: true)
        self.bySubject = nil
    }

    private mutating func compact() {
        self.bySubject = nil
        self.records = self.records.compactMap { $0 }
        for (index, record) in self.records.enumerated() {
            if let record { self.places[record.key]?.index = index }
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
        var bySubject: [Subject: [Int]] = [:]
        for (index, record) in self.records.enumerated() {
            guard let record else { continue }
            bySubject[Subject(room: record.room, name: record.subject), default: []].append(index)
        }
        self.bySubject = bySubject
    }
}
