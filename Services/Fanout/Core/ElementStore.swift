internal import Canvas
internal import JSONBytes
internal import Wire

/// All elements of one room in the order in which they came, each as its JSON text and, once someone moves it, parsed.
struct ElementStore: Sendable {
    /// An element in parsed form. Boxed, because most elements lie still.
    indirect enum Parsed: Sendable {
        case notYet
        case illFormed
        case element(Element)
    }

    /// One element.
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

    private var places: [Identifier: Int] = [:]
    /// Deleted elements leave a hole behind until half of the slots are.
    private var slots: [Slot] = []
    /// What the texts take, roughly.
    private(set) var bytes = 0
    /// The JSON array of all elements, while nothing has changed since it was made.
    private var array: [UInt8]?

    var count: Int { self.places.count }
    /// What everything takes, roughly.
    var footprint: Int { self.bytes + (self.array?.count ?? 0) }

    func place(of id: Identifier) -> Int? { self.places[id] }

    /// The element at a place that ``place(of:)`` gave, until an element is removed.
    subscript(place: Int) -> Slot {
        _read { yield self.slots[place] }
        _modify { yield &self.slots[place] }
    }

    mutating func set(_ id: Identifier, json: [UInt8], seq: UInt64) {
        self.array = nil
        self.bytes += json.count
        if let place = self.places[id] {
            self.bytes -= self.slots[place].json.count
            self.slots[place].json = json
            self.slots[place].seq = seq
            self.slots[place].parsed = .notYet
        } else {
            self.bytes += Self.overhead(of: id)
            self.places[id] = self.slots.count
            self.slots.append(Slot(id: id, json: json, seq: seq))
        }
    }

    mutating func remove(_ id: Identifier) {
        guard let place = self.places.removeValue(forKey: id) else { return }
        self.array = nil
        self.bytes -= self.slots[place].json.count + Self.overhead(of: id)
        self.slots[place] = Slot(id: id, isThere: false, json: [], seq: 0)
        if self.slots.count > 64, self.places.count < self.slots.count / 2 { self.compact() }
    }

    /// Takes the elements of a snapshot and keeps the fences of those that it has already.
    mutating func replace(with elements: [RoomSnapshot.Element]) {
        var next = ElementStore()
        next.places.reserveCapacity(elements.count)
        next.slots.reserveCapacity(elements.count)
        for element in elements {
            next.set(element.id, json: element.json, seq: element.seq)
            if let old = self.places[element.id], let place = next.places[element.id] {
                next.slots[place].fences = self.slots[old].fences
            }
        }
        self = next
    }

    /// The JSON array of all elements.
    mutating func snapshot() -> [UInt8] {
        if let array = self.array { return array }
        var text: [UInt8] = []
        text.reserveCapacity(self.slots.reduce(2) { $0 + $1.json.count + 1 })
        text.append(UInt8(ascii: "["))
        for slot in self.slots where slot.isThere {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: slot.json)
        }
        text.append(UInt8(ascii: "]"))
        self.array = text
        return text
    }

    /// Forgets the encoded array.
    mutating func releaseSnapshot() {
        self.array = nil
    }

    /// The element at a place in parsed form; nil when its text is no element.
    mutating func element(at place: Int, with document: inout JSONDocument) -> Element? {
        switch self.slots[place].parsed {
        case .element(let element): return element
        case .illFormed: return nil
        case .notYet: break
        }
        guard (try? document.parse(self.slots[place].json, limits: Element.jsonLimits)) != nil,
            let element = Element(json: document.root)
        else {
            self.slots[place].parsed = .illFormed
            return nil
        }
        self.slots[place].parsed = .element(element)
        return element
    }

    /// Does something to the fences of every element that has any.
    mutating func updateFences(_ change: (inout Slot) -> Void) {
        for place in self.slots.indices where !self.slots[place].fences.all.isEmpty {
            change(&self.slots[place])
        }
    }

    private mutating func compact() {
        self.slots.removeAll { !$0.isThere }
        for (place, slot) in self.slots.enumerated() { self.places[slot.id] = place }
    }

    private static func overhead(of id: Identifier) -> Int { id.text.utf8.count + 192 }
}
