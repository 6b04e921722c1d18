/// Edits in their order, found by their keys and by the elements that they change, and counted.
struct EditList: Sendable {
    /// The keys of all edits, in their order. Later edits have larger ones, except those of `insert`.
    private(set) var keys: [Int] = []
    /// How many edits have no result yet, how many of these are under way, and how many are in doubt.
    private(set) var openCount = 0, underWayCount = 0, doubtCount = 0
    private var byKey: [Int: ClientEdit] = [:]
    /// The keys of each element's edits, in their order.
    private var keysByElement: [TextKey: [Int]] = [:]
    /// The keys of the edits that name no element, as an undo: they may change any.
    private var keysWithoutElement: [Int] = []
    private var lastKey = 0

    /// The edit of a key; nil if it is not there any more.
    subscript(key: Int) -> ClientEdit? { self.byKey[key] }

    var all: [ClientEdit] { self.keys.compactMap { self.byKey[$0] } }

    func edits(of element: TextKey) -> [ClientEdit] {
        (self.keysByElement[element] ?? []).compactMap { self.byKey[$0] }
    }

    /// The key of the latest edit that may change one of some elements.
    func latestKey(of elements: [TextKey]) -> Int? {
        (elements.compactMap { self.keysByElement[$0]?.last } + self.keysWithoutElement.suffix(1)).max()
    }

    // MARK: Changes

    mutating func append(_ edit: ClientEdit) {
        let key = self.add(edit)
        self.keys.append(key)
        for id in edit.elementIds where self.keysByElement[id]?.last != key {
            self.keysByElement[id, default: []].append(key)
        }
        if edit.elementIds.isEmpty { self.keysWithoutElement.append(key) }
    }

    /// Puts an edit that changes nothing before another one.
    mutating func insert(_ edit: ClientEdit, before key: Int) {
        guard let index = self.keys.firstIndex(of: key) else { return }
        self.keys.insert(self.add(edit), at: index)
    }

    private mutating func add(_ edit: ClientEdit) -> Int {
        self.lastKey += 1
        var edit = edit
        edit.key = self.lastKey
        self.byKey[self.lastKey] = edit
        self.count(edit, 1)
        return self.lastKey
    }

    /// Changes an edit, but not its key, nor which elements it changes.
    /// - Returns: what `change` does; nil if there is no such edit.
    @discardableResult
    mutating func change<Result>(_ key: Int, _ change: (inout ClientEdit) -> Result) -> Result? {
        guard let index = self.byKey.index(forKey: key) else { return nil }
        self.count(self.byKey.values[index], -1)
        let result = change(&self.byKey.values[index])
        self.count(self.byKey.values[index], 1)
        return result
    }

    mutating func remove(_ key: Int) {
        guard let edit = self.byKey.removeValue(forKey: key) else { return }
        self.count(edit, -1)
        // Edits get their results in about their order: it is among the first ones.
        if let index = self.keys.firstIndex(of: key) { self.keys.remove(at: index) }
        if let index = self.keysWithoutElement.firstIndex(of: key) { self.keysWithoutElement.remove(at: index) }
        for id in edit.elementIds {
            guard let index = self.keysByElement[id]?.firstIndex(of: key) else { continue }
            self.keysByElement[id]?.remove(at: index)
            if self.keysByElement[id]?.isEmpty ?? false { self.keysByElement[id] = nil }
        }
    }

    private mutating func count(_ edit: ClientEdit, _ difference: Int) {
        if edit.isOpen { self.openCount += difference }
        if edit.isOpen, edit.isUnderWay { self.underWayCount += difference }
        if edit.doubt != nil { self.doubtCount += difference }
    }
}
