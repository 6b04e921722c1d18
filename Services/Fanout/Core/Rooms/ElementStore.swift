internal import Canvas
internal import JSONBytes
internal import Timing
internal import Wire

/// All elements of one room in the order in which they came, each as its JSON text and, once someone moves it, parsed.
struct ElementStore: Sendable {
    /// An element in parsed form. Boxed, because most elements lie still.
    indirect enum Parsed: Sendable {
        case notYet
        case illFormed
        case element(Element)
    }

    struct Slot: Sendable {
        let id: Identifier
        /// False for the hole that a deleted one left.
        var isThere = true
        var json: [UInt8]
        /// The number of its last update.
        var seq: UInt64
        var parsed = Parsed.notYet
        var fences = GestureFences()
    }

    private var indices: [Identifier: Int] = [:]
    /// Deleted elements leave a hole behind until half of the slots are.
    private var slots: [Slot] = []
    /// The fences of deleted elements. An undo may bring an element back while late previews are still under way.
    private var departed: [Identifier: GestureFences] = [:]
    /// Roughly the bytes of the texts.
    private(set) var bytes = 0
    /// The bytes of the texts alone.
    private var textBytes = 0
    /// Elements that are not there and whose fences are kept all the same; of further ones that never were, none is.
    private static let mostDeparted = 1024
    /// Roughly the bytes of one of them.
    private static let departedBytes = 160
    /// All fences, those of deleted elements too.
    private var fenceCount = 0
    /// Roughly the bytes of one of them.
    private static let fenceBytes = 128
    /// The JSON array of all elements, while nothing has changed since it was made and it is no larger than
    /// ``keptArrayBytes``.
    private var array: [UInt8]?
    /// A larger array would hold a large room twice, bytes.
    private static let keptArrayBytes = 1 << 20

    var count: Int { self.indices.count }
    var footprint: Int {
        self.bytes + (self.array?.count ?? 0) + self.departed.count * Self.departedBytes
            + self.fenceCount * Self.fenceBytes
    }

    func index(of id: Identifier) -> Int? { self.indices[id] }

    /// The element at an index from ``index(of:)``, which is valid until an element is removed.
    subscript(index: Int) -> Slot {
        _read { yield self.slots[index] }
        _modify { yield &self.slots[index] }
    }

    /// Sets an element's text.
    /// - Returns: its index.
    @discardableResult
    mutating func set(_ id: Identifier, json: [UInt8], seq: UInt64) -> Int {
        self.array = nil
        self.bytes += json.count
        self.textBytes += json.count
        if let index = self.indices[id] {
            self.bytes -= self.slots[index].json.count
            self.textBytes -= self.slots[index].json.count
            self.slots[index].json = json
            self.slots[index].seq = seq
            self.slots[index].parsed = .notYet
            return index
        }
        self.bytes += Self.overhead(of: id)
        self.indices[id] = self.slots.count
        let fences = self.departed.isEmpty ? nil : self.departed.removeValue(forKey: id)
        self.slots.append(Slot(id: id, json: json, seq: seq, fences: fences ?? GestureFences()))
        return self.slots.count - 1
    }

    mutating func remove(_ id: Identifier) {
        guard let index = self.indices.removeValue(forKey: id) else { return }
        self.array = nil
        self.bytes -= self.slots[index].json.count + Self.overhead(of: id)
        self.textBytes -= self.slots[index].json.count
        if !self.slots[index].fences.all.isEmpty { self.departed[id] = self.slots[index].fences }
        self.slots[index] = Slot(id: id, isThere: false, json: [], seq: 0)
        if self.slots.count > 64, self.indices.count < self.slots.count / 2 { self.compact() }
    }

    /// Replaces all elements by those of a snapshot; the fences of those that stay are kept.
    mutating func replace(with elements: [RoomSnapshot.Element]) {
        var next = ElementStore()
        next.departed = self.departed
        next.fenceCount = self.fenceCount
        for slot in self.slots where !slot.fences.all.isEmpty { next.departed[slot.id] = slot.fences }
        next.indices.reserveCapacity(elements.count)
        next.slots.reserveCapacity(elements.count)
        for element in elements {
            next.set(element.id, json: element.json, seq: element.seq)
        }
        self = next
    }

    /// The bytes of ``snapshot()``, known without making it.
    var snapshotBytes: Int { self.textBytes + max(1, self.count) + 1 }

    mutating func snapshot() -> [UInt8] {
        if let array = self.array { return array }
        var text: [UInt8] = []
        text.reserveCapacity(self.snapshotBytes)
        text.append(UInt8(ascii: "["))
        for slot in self.slots where slot.isThere {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: slot.json)
        }
        text.append(UInt8(ascii: "]"))
        if text.count <= Self.keptArrayBytes { self.array = text }
        return text
    }

    mutating func releaseSnapshot() { self.array = nil }

    /// The element at an index in parsed form; nil when its text is no element.
    mutating func element(at index: Int, with document: inout JSONDocument) -> Element? {
        switch self.slots[index].parsed {
        case .element(let element): return element
        case .illFormed: return nil
        case .notYet: break
        }
        guard (try? document.parse(self.slots[index].json, limits: .element)) != nil,
            let element = Element(json: document.root)
        else {
            self.slots[index].parsed = .illFormed
            return nil
        }
        self.slots[index].parsed = .element(element)
        return element
    }

    // MARK: Fences

    mutating func changeFences<Result>(at index: Int, _ change: (inout GestureFences) -> Result) -> Result {
        let before = self.slots[index].fences.all.count
        defer { self.fenceCount += self.slots[index].fences.all.count - before }
        return change(&self.slots[index].fences)
    }

    /// Changes the fences of an element that may be deleted, or was never there. Whoever moves elements that do not exist
    /// gets space for some of them only.
    mutating func changeFences(of id: Identifier, _ change: (inout GestureFences) -> Void) {
        if let index = self.indices[id] { return self.changeFences(at: index, change) }
        guard self.departed.count < Self.mostDeparted || self.departed[id] != nil else { return }
        var fences = self.departed[id] ?? GestureFences()
        self.fenceCount -= fences.all.count
        change(&fences)
        self.fenceCount += fences.all.count
        self.departed[id] = fences
    }

    /// Changes the fences of every element that has any.
    mutating func changeAllFences(_ change: (inout Slot) -> Void) {
        if self.fenceCount == 0 { return }
        for index in self.slots.indices where !self.slots[index].fences.all.isEmpty {
            let before = self.slots[index].fences.all.count
            change(&self.slots[index])
            self.fenceCount += self.slots[index].fences.all.count - before
        }
    }

    /// Forgets the fences of elements of which no late preview can be under way any more.
    mutating func removeExpiredDepartedFences(at now: Instant, limits: FanoutLimits) {
        if self.departed.isEmpty { return }
        for (id, fences) in self.departed where !fences.isOfUse(at: now, limits: limits) {
            self.fenceCount -= fences.all.count
            self.departed[id] = nil
        }
    }

    private mutating func compact() {
        self.slots.removeAll { !$0.isThere }
        for (index, slot) in self.slots.enumerated() { self.indices[slot.id] = index }
    }

    private static func overhead(of id: Identifier) -> Int { id.text.utf8.count + 192 }
}
