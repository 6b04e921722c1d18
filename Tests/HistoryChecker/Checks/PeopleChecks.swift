// What a room says of where people point and what they have selected.

extension HistoryIndex {
    /// I20: the cursor and the selection that a join is told of a connection were shown over it, the selection is the last
    /// one, and so is the cursor unless faults may have lost it; a connection that has gone shows nothing.
    func people() -> Verdict.Finding {
        var replay = PeopleReplay(self)
        for place in self.history.indices { replay.step(place) }
        return replay.finding
    }
}

private struct PeopleReplay {
    /// How long after the last fault, or after it was shown, everybody must know of something, ms.
    private static let settleTime = ViewReplay.convergenceTime

    /// What an app has shown over its connection.
    private struct Person {
        /// Where it showed each of its cursors; the empty text hides it.
        var cursors: [(body: String, place: Int)] = []
        /// The last selection that was acknowledged, and where.
        var selection: (body: String, place: Int)?
        /// Where it left the room.
        var left: Int?
    }

    private let index: HistoryIndex
    /// By app and room.
    private var people: [String: [String: Person]] = [:]
    private(set) var finding = Verdict.Finding()

    init(_ index: HistoryIndex) { self.index = index }

    mutating func step(_ place: Int) {
        let record = self.index.history[place]
        var person: Person { self.people[record.client]?[record.room] ?? Person() }
        switch record.kind {
        case .snapshot, .resumed:
            // An app that joins without having left is on the same connection.
            if person.left != nil { self.people[record.client]?[record.room] = nil }
        case .pointed:
            self.people[record.client, default: [:]][record.room, default: Person()].cursors
                .append((record.body, place))
        case .selected:
            self.people[record.client, default: [:]][record.room, default: Person()].selection = (record.body, place)
        case .left: self.people[record.client, default: [:]][record.room] = Person(left: place)
        case .closed:
            self.people[record.client] = self.people[record.client]?.mapValues { Person(left: $0.left ?? place) }
        case .people: self.check(record, place)
        default: break
        }
    }

    /// Whether what happened at a place is known everywhere by the time of a record.
    private func isSettled(_ place: Int, by record: HistoryRecord) -> Bool {
        record.time >= max(self.index.healTime, self.index.history[place].time) + Self.settleTime
    }

    private mutating func check(_ record: HistoryRecord, _ place: Int) {
        let shown = Set(record.cursors.keys).union(record.selections.keys)
        for client in shown.union(self.people.keys).sorted() {
            guard let person = self.people[client]?[record.room] else {
                if shown.contains(client) { self.finding.violated("\(client) showed nothing", [place]) }
                continue
            }
            guard let left = person.left else {
                self.checkCursor(of: person, record.cursors[client] ?? "", client, record, place)
                self.checkSelection(of: person, record.selections[client] ?? "", client, record, place)
                continue
            }
            if shown.contains(client), self.isSettled(left, by: record) {
                self.finding.violated("\(client) is gone, but still shown", [left, place])
            }
        }
    }

    private mutating func checkCursor(
        of person: Person, _ told: String, _ client: String, _ record: HistoryRecord, _ place: Int
    ) {
        guard told.isEmpty || person.cursors.contains(where: { $0.body == told }) else {
            return self.finding.violated("a cursor that \(client) did not show", [place])
        }
        // Previews, and cursors with them, may be lost under faults.
        guard let last = person.cursors.last, self.isSettled(last.place, by: record), self.index.heal != nil,
            self.index.history[last.place].time >= self.index.healTime + Self.settleTime
        else { return }
        self.finding.expect(told == last.body, "the cursor of \(client) is not the last one", [last.place, place])
    }

    private mutating func checkSelection(
        of person: Person, _ told: String, _ client: String, _ record: HistoryRecord, _ place: Int
    ) {
        guard let last = person.selection else {
            return self.finding.expect(told.isEmpty, "a selection that \(client) did not make", [place])
        }
        guard self.isSettled(last.place, by: record), self.index.heal != nil else { return }
        self.finding.expect(told == last.body, "the selection of \(client) is not the last one", [last.place, place])
    }
}
