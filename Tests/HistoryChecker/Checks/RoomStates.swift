import JSONBytes

/// A room's elements at each of its numbers, as the log has them.
struct RoomStates {
    /// An element from a number on.
    struct State {
        var seq: UInt64
        /// Empty: it does not exist.
        var body: String
        /// Where its row is in the history.
        var row: Int

        /// How often it was changed; nil if it does not exist.
        var revision: Int64? { RoomStates.revision(of: self.body) }
    }

    /// Whether the log begins with the room.
    let isWhole: Bool
    private var states: [String: [State]] = [:]
    /// The elements of each row, in order.
    private var rows: [(seq: UInt64, elements: [String])] = []

    init() { self.isWhole = true }

    init(_ room: HistoryIndex.Room, _ history: [HistoryRecord]) {
        self.isWhole = room.floor == 0
        for row in room.rows {
            let record = history[row]
            self.rows.append((record.seq, Array(record.states.keys)))
            for (element, body) in record.states {
                self.states[element, default: []].append(State(seq: record.seq, body: body, row: row))
            }
        }
    }

    /// An element at a number; nil if it was never there.
    func state(of element: String, at seq: UInt64) -> State? {
        guard let states = self.states[element] else { return nil }
        let next = firstIndex(in: states) { $0.seq > seq }
        return next > 0 ? states[next - 1] : nil
    }

    /// The elements that changed between two numbers, the latter included.
    func changed(after seq: UInt64, upTo last: UInt64) -> Set<String> {
        let first = firstIndex(in: self.rows) { $0.seq > seq }
        return Set(self.rows[first...].prefix { $0.seq <= last }.flatMap(\.elements))
    }

    /// Whether an element changed between two numbers, neither included.
    func isChanged(_ element: String, after seq: UInt64, before last: UInt64) -> Bool {
        (self.states[element] ?? []).contains { $0.seq > seq && $0.seq < last }
    }

    /// Whether an element was deleted between two numbers, the latter included.
    func isDeleted(_ element: String, after seq: UInt64, upTo last: UInt64) -> Bool {
        (self.states[element] ?? []).contains { $0.seq > seq && $0.seq <= last && $0.body.isEmpty }
    }

    // MARK: Bodies

    /// What every change of an element sets, and what only the server knows.
    private static let bookkeeping: Set = ["rev", "createdBy", "updatedBy", "motion", "animation"]

    /// A body's fields as JSON texts; the whole text under an empty name if it is no JSON.
    static func fields(of body: String) -> [String: String] {
        var document = JSONDocument()
        do { try document.parse(Array(body.utf8)) } catch { return ["": body] }
        var fields: [String: String] = [:]
        for (key, value) in document.root.members {
            fields[key.string ?? ""] = String(decoding: value.rawBytes, as: UTF8.self)
        }
        return fields
    }

    /// How often the element of a body was changed; nil if that is not in it.
    static func revision(of body: String) -> Int64? { self.fields(of: body)["rev"].flatMap { Int64($0) } }

    /// What apps get that want nothing to move, as those of the 1.0 contract do.
    static func still(_ body: String) -> [String: String] {
        self.fields(of: body).filter { $0.key != "motion" && $0.key != "animation" }
    }

    /// What a user sees of an element.
    static func appearance(of body: String) -> [String: String] {
        self.fields(of: body).filter { !self.bookkeeping.contains($0.key) }
    }
}
