// What a room says of where people point and what they have selected.

extension HistoryIndex {
    /// I20: a join is told of every connection that is in the room, and of none that has gone; of each the last selection,
    /// and a cursor that it has shown, the last one unless faults may have lost it.
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
        /// Where it joined the room, and where it left it.
        var joined: Int?, left: Int?
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
            if record.isFinal { return }
            // An app that joins without having left is on the same connection.
            guard person.joined == nil else { return }
            self.people[record.client, default: [:]][record.room] = Person(joined: place)
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
        let shown = Set(record.cursors.keys).union(record.selections.keys).union(record.targets)
        for client in shown.union(self.people.keys).sorted() {
            guard let person = self.people[client]?[record.room] else {
                if shown.contains(client) { self.finding.violated("\(client) showed nothing", [place]) }
                continue
            }
            guard let left = person.left else {
                if let joined = person.joined, !record.targets.isEmpty, self.isSettled(joined, by: record) {
                    self.finding.expect(
                        record.targets.contains(client), "\(client) is in the room, but not shown", [joined, place])
                }
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
