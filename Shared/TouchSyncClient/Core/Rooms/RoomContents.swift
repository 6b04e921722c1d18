import Canvas
import JSONBytes

/// The elements of a room: what the server confirmed up to a number, and what is shown.
package struct RoomContents: Sendable {
    /// The server's history of the room; nil while nothing is known that a join could go on from.
    private(set) var epoch: String?
    /// The number of the last change that was applied.
    package private(set) var seq: Int64 = 0
    /// The elements that the server confirmed.
    package private(set) var confirmed = ElementTable()
    /// The confirmed elements with this user's edits and gestures on top, as the room computed them last.
    var shown = ElementTable()
    /// The rules that the server applies; until it has sent them all types are free, as notes are.
    private(set) var rules = RulesTable.free
    /// A room in parts of which some are missing.
    private var arriving: RoomArrival?
    private var touched = IdSet()

    package init() {}

    /// Where a join goes on; nil when all of the room is needed.
    package var position: (epoch: String, seq: Int64)? { self.epoch.map { ($0, self.seq) } }

    private func parentSize(of element: Element) -> Size? {
        element.parentId.flatMap { self.confirmed[TextKey($0)]?.originalSize }
    }

    /// What an edit of an element needs to be shown.
    func scene(of element: Element?) -> EditScene {
        EditScene(rules: self.rules, parentSize: element.flatMap(self.parentSize(of:)))
    }

    /// The annotations of some elements: they are deleted with them.
    func annotations(of ids: [TextKey]) -> [TextKey] {
        self.shown.all.filter { $0.parentId.map { ids.contains(TextKey($0)) } ?? false }.map { TextKey($0.id) }
    }

    // MARK: Changes

    /// The rules as the server sent them, without those that this version does not know.
    /// - Returns: whether there are any.
    mutating func rulesArrived(_ json: JSONValue?) -> Bool {
        guard let json, json.kind == .object else { return false }
        self.rules = RulesTable(lenient: json)
        return true
    }

    /// Applies the change that follows `seq`.
    /// - Returns: the elements that it changed.
    package mutating func apply(_ event: String, _ data: JSONObject, seq: Int64) -> [TextKey] {
        self.seq = seq
        let changes = RoomUpdate(rawValue: event)?.changes(data, confirmed: self.confirmed) ?? []
        for (id, element) in changes { self.confirmed[id] = element }
        return changes.map(\.id)
    }

    /// Nothing is known any more that a join could go on from; what is shown stays.
    mutating func forgetPosition() {
        self.epoch = nil
    }

    // MARK: A whole room

    /// The answer to a join brings the whole room, or announces its parts.
    package mutating func began(_ arrival: RoomArrival) {
        self.epoch = nil
        self.arriving = arrival
    }

    /// A part of the room.
    /// - Returns: whether it was the last one.
    package mutating func partArrived(_ data: JSONObject) -> Bool {
        guard self.arriving != nil else { return false }
        self.arriving?.append(data["elements"])
        guard let part = data["part"]?.integer, let parts = data["parts"]?.integer else { return false }
        return part >= parts
    }

    /// The connection was lost between the parts: nothing of them counts.
    mutating func dropParts() {
        self.arriving = nil
    }

    /// The whole room is here, in place of what was known.
    /// - Returns: the last number of the session that is contained in it; nil when none was arriving.
    @discardableResult
    package mutating func replaced() -> Int64? {
        guard let arrival = self.arriving else { return nil }
        self.arriving = nil
        self.touchAll()
        self.epoch = arrival.epoch
        self.seq = arrival.seq
        self.confirmed = ElementTable(arrival.elements)
        for element in arrival.elements { self.touched.insert(TextKey(element.id)) }
        return arrival.sessionNumber
    }

    // MARK: What is shown

    /// Elements are to be computed again, and to be reported.
    mutating func touch(_ ids: [TextKey]) {
        for id in ids { self.touched.insert(id) }
    }

    /// All that is shown is to be reported.
    mutating func touchAll() {
        for id in self.shown.ids { self.touched.insert(id) }
    }

    mutating func takeTouched() -> [TextKey] { self.touched.takeAll() }
}

/// A whole room as the answer to a join, and its parts, bring it.
package struct RoomArrival: Sendable {
    let epoch: String
    let seq: Int64
    /// The last number of the session that is contained in it.
    let sessionNumber: Int64
    private(set) var elements: [Element] = []

    package init(answer: JSONObject, sessionNumber: Int64) {
        self.epoch = answer["epoch"]?.string ?? ""
        self.seq = answer["seq"]?.integer ?? 0
        self.sessionNumber = sessionNumber
        self.append(answer["elements"])
    }

    mutating func append(_ elements: JSONValue?) {
        self.elements += (elements?.objects ?? []).compactMap { Element(server: $0) }
    }
}
