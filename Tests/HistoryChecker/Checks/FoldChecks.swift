// The log, replayed, against what the database holds and what apps were given.

extension HistoryIndex {
    /// I4: the elements at the end are what the log makes of them; and, for I5, so is each snapshot at its place.
    ///
    /// Where the log has a floor, elements that it does not tell of are not judged.
    func folded(snapshots: [String: [Int]]) -> (state: Verdict.Finding, snapshots: Verdict.Finding) {
        var state = Verdict.Finding()
        var seen = Verdict.Finding()
        for (name, room) in self.rooms.sorted(by: { $0.key < $1.key }) {
            var fold = Fold(isWhole: room.floor == 0)
            let ordered = (snapshots[name] ?? []).sorted { self.history[$0].seq < self.history[$1].seq }
            var next = 0
            for place in ordered {
                let snapshot = self.history[place]
                while next < room.rows.count, self.history[room.rows[next]].seq <= snapshot.seq {
                    fold.apply(self.history[room.rows[next]])
                    next += 1
                }
                seen.checked += 1
                if snapshot.seq > room.seq { seen.violated("a snapshot beyond the log", [place]) }
                if let element = fold.difference(to: snapshot.elements) {
                    seen.violated("a snapshot that the log does not give: \(element)", [place])
                }
            }
            for row in room.rows[next...] { fold.apply(self.history[row]) }
            var elements: [String: String] = [:]
            for place in room.elements { elements[self.history[place].element] = self.history[place].body }
            state.checked += max(1, fold.count)
            if let element = fold.difference(to: elements) {
                state.violated("room \(name): the log gives another state of \(element)", self.rows(of: element, room))
            }
        }
        return (state, seen)
    }

    /// The last rows and the final state of an element.
    private func rows(of element: String, _ room: Room) -> [Int] {
        room.rows.filter { self.history[$0].states[element] != nil }.suffix(2)
            + room.elements.filter { self.history[$0].element == element }
    }
}

/// A room's elements as the log makes them.
private struct Fold {
    /// True when the log begins with the room, so that it tells of every element.
    let isWhole: Bool
    /// Element states; nil inside: deleted.
    private var states: [String: String?] = [:]
    private var living = 0

    init(isWhole: Bool) { self.isWhole = isWhole }

    var count: Int { self.states.count }

    mutating func apply(_ row: HistoryRecord) {
        for (element, body) in row.states {
            let old = self.states.updateValue(body.isEmpty ? nil : body, forKey: element) ?? nil
            self.living += (body.isEmpty ? 0 : 1) - (old == nil ? 0 : 1)
        }
    }

    /// The first element in which the fold and what was observed differ.
    func difference(to observed: [String: String]) -> String? {
        if self.isWhole, self.living == observed.count,
            observed.allSatisfy({ self.states[$0.key].map { $0 } == .some(.some($0.value)) })
        {
            return nil
        }
        for (element, body) in self.states.sorted(by: { $0.key < $1.key }) where observed[element] != body {
            return element
        }
        guard self.isWhole else { return nil }
        return observed.keys.sorted().first { self.states[$0] == nil }
    }
}
