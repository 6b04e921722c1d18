// What apps of the 1.0 contract get. They never learn where a room stands when they enter it, nor of changes that are no
// transforms.

extension HistoryIndex {
    /// I18: between two losses of its connection an app of the 1.0 contract gets each update that it can know, once, in
    /// order, and all elements of it: from the first one on, or from what it was acknowledged, and if it stays, to the
    /// room's end.
    func legacyApps() -> Verdict.Finding {
        var replay = LegacyReplay(self)
        for place in self.history.indices { replay.step(place) }
        replay.settle()
        return replay.finding
    }
}

private struct LegacyReplay {
    /// What one app got since it connected.
    private struct View {
        var room: String
        /// The number of the last update that it got, and the record; 0: none yet.
        var seq: UInt64 = 0
        var at = 0
        /// The elements of that update that it has not got yet.
        var missing: Set<String> = []
        /// The lowest number that it was acknowledged before it got any update: it was in the room by then.
        var acknowledged: UInt64?
    }

    private let index: HistoryIndex
    private let clients: Set<String>
    private var views: [String: View] = [:]
    private(set) var finding = Verdict.Finding()

    init(_ index: HistoryIndex) {
        self.index = index
        self.clients = Set(index.history.lazy.filter { $0.kind == .legacy }.map(\.client))
    }

    mutating func step(_ place: Int) {
        let record = self.index.history[place]
        guard self.clients.contains(record.client) else { return }
        switch record.kind {
        case .left: self.views[record.client] = nil
        case .answer where record.seq > 0: self.answered(record)
        case .legacy: self.received(record, place)
        default: break
        }
    }

    private mutating func answered(_ record: HistoryRecord) {
        var view = self.views[record.client] ?? View(room: record.room)
        if view.seq == 0 { view.acknowledged = min(view.acknowledged ?? record.seq, record.seq) }
        self.views[record.client] = view
    }

    private mutating func received(_ record: HistoryRecord, _ place: Int) {
        // The log may not reach back as far.
        guard record.seq > self.index.rooms[record.room]?.floor ?? 0 else { return }
        self.finding.checked += 1
        guard let row = self.index.row(record.room, record.seq) else {
            return self.finding.violated("delivered, but not in the log", [place])
        }
        let stored = self.index.history[row]
        guard stored.states[record.element].map(RoomStates.still) == RoomStates.fields(of: record.body) else {
            return self.finding.violated("delivered otherwise than it is in the log", [place, row])
        }
        // The end of a gesture without a commit shows an element as it is, under its old number. It can be told from an
        // update that the app knows by that number, or by the row: of one that it did not get, which is no transform.
        if record.event == "ended" || record.event == "shown" && stored.event == "updated" { return }
        var record = record
        if record.event == "shown" { record.event = "transformed" }
        var view = self.views[record.client] ?? View(room: record.room)
        if record.seq != view.seq {
            self.checkOrder(view, record, place)
            (view.seq, view.at, view.missing) = (record.seq, place, Set(stored.states.keys))
        }
        if view.missing.remove(record.element) == nil {
            self.finding.violated("an element of an update twice", [place, row])
        }
        if !record.fits(stored, missing: view.missing.count) {
            self.finding.violated("another event, or another part, than the update has", [place, row])
        }
        self.views[record.client] = view
    }

    private mutating func checkOrder(_ view: View, _ record: HistoryRecord, _ place: Int) {
        if !view.missing.isEmpty { self.finding.violated("only a part of an update", [view.at, place]) }
        let from = view.seq > 0 ? view.seq + 1 : view.acknowledged ?? record.seq
        if record.seq < from, view.seq > 0 { self.finding.violated("out of order", [view.at, place]) }
        if let row = self.firstKnown(view.room, from, below: record.seq) {
            self.finding.violated("an update is missing", [view.at, row, place])
        }
    }

    /// The first row in a range of numbers that a 1.0 app can know.
    private func firstKnown(_ room: String, _ from: UInt64, below end: UInt64) -> Int? {
        guard let rows = self.index.rooms[room]?.rows else { return nil }
        let start = firstIndex(in: rows) { self.index.history[$0].seq >= from }
        return rows[start...].prefix { self.index.history[$0].seq < end }.first {
            self.index.history[$0].event != "updated"
        }
    }

    mutating func settle() {
        for (_, view) in self.views.sorted(by: { $0.key < $1.key }) {
            self.finding.checked += 1
            if !view.missing.isEmpty { self.finding.violated("only a part of the last update", [view.at]) }
            guard let from = view.seq > 0 ? view.seq + 1 : view.acknowledged else { continue }
            if let row = self.firstKnown(view.room, from, below: .max) {
                self.finding.violated("the room's last updates are missing", [view.at, row])
            }
        }
    }
}

extension HistoryRecord {
    /// Whether an event for a 1.0 app is what it gets of a row.
    /// - Parameter missing: how many elements of the row follow.
    fileprivate func fits(_ row: HistoryRecord, missing: Int) -> Bool {
        let count = UInt64(row.states.count)
        let isPart = self.parts == count && self.part == count - UInt64(missing)
        switch (row.event, self.event) {
        case ("several transformed", let event): return event == "transformed" && isPart
        case ("changed", "deleted"): return self.parts == 0 && self.body.isEmpty
        case ("changed", "created"): return self.parts == 0 && !self.body.isEmpty
        case ("changed", let event): return event == "transformed" && isPart
        case (let rowEvent, let event): return self.parts == 0 && (rowEvent == event || rowEvent == "several \(event)")
        }
    }
}
