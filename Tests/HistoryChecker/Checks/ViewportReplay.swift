/// What reaches apps that see a part of the canvas only, and what they miss (I19).
///
/// Nothing is claimed while faults may have an effect: a gateway whose fan-out changed shows everything until the new one
/// knows of its viewports, and previews may be lost with the daemons that carry them.
struct ViewportReplay {
    /// From then on after the last fault, or after a viewport was set, what an app sees is certain, ms.
    private static let settleTime = ViewReplay.convergenceTime
    /// A gesture without a preview for this long may be shown from its start again, ms.
    private static let longestPause = 2000.0

    private struct Pair: Hashable {
        var client: String
        var room: String
    }

    /// What an app sees of a room.
    private struct Sight {
        enum Part {
            /// It has asked for another part and has no answer yet, or it joined again.
            case unknown
            case everything
            case box(CanvasBox)
        }

        var part = Part.everything
        /// When it was set, ms.
        var since: Double
        /// Where it joined last; nil: it is not in the room.
        var joined: Int?
        /// The last preview that it received of each element and publisher, and the last cursor of each publisher.
        var received: [Publisher: Int] = [:]
    }

    /// An app and an element that it moves, or its cursor, which has no element.
    private struct Publisher: Hashable {
        var room: String
        var client: String
        var element: String

        init(_ record: HistoryRecord, by client: String) {
            (self.room, self.client, self.element) = (record.room, client, record.element)
        }
    }

    private struct StoredElement: Hashable {
        var room: String
        var element: String
    }

    private let index: HistoryIndex
    private var sights: [Pair: Sight] = [:]
    private var sent: [Publisher: [Int]] = [:]
    /// Where each publisher last asked for a commit of the element, and the highest gesture that it ended.
    private var commits: [Publisher: (place: Int, gesture: UInt64)] = [:]
    /// Where a change of an element last reached anybody.
    private var changes: [StoredElement: Int] = [:]
    private(set) var finding = Verdict.Finding()
    private(set) var counts: [String: Int64] = [:]

    init(_ index: HistoryIndex) { self.index = index }

    mutating func run() {
        for place in self.index.history.indices { self.step(place) }
        for (publisher, places) in self.sent.sorted(by: { $0.value[0] < $1.value[0] }) {
            if let last = places.last { self.checkEnd(of: last, by: publisher) }
        }
    }

    private mutating func step(_ place: Int) {
        let record = self.index.history[place]
        let pair = Pair(client: record.client, room: record.room)
        switch record.kind {
        case .snapshot, .resumed: self.joined(pair, record, place)
        case .left: self.sights[pair] = nil
        case .resync: self.sights[pair]?.joined = nil
        case .look: self.set(.unknown, pair, record)
        case .view: self.set(record.box.map(Sight.Part.box) ?? .everything, pair, record)
        case .deliver: self.delivered(pair, record, place)
        case .invoke: self.invoked(record, place)
        case .previewSent, .pointed:
            self.sent[Publisher(record, by: record.client), default: []].append(place)
            self.countHidden(record)
        case .preview, .cursor: self.received(pair, record, place)
        default: break
        }
    }

    // MARK: What apps see

    /// A viewport belongs to a connection. An app that joins without having left is on the same one.
    private mutating func joined(_ pair: Pair, _ record: HistoryRecord, _ place: Int) {
        let part = self.sights[pair].map { _ in Sight.Part.unknown } ?? .everything
        self.sights[pair] = Sight(part: part, since: record.time, joined: place)
    }

    private mutating func set(_ part: Sight.Part, _ pair: Pair, _ record: HistoryRecord) {
        self.sights[pair]?.part = part
        self.sights[pair]?.since = record.time
        if case .box = part { self.counts["viewports", default: 0] += 1 }
    }

    /// The box that an app sees, if that is certain by the time of a record.
    private func certainBox(_ sight: Sight, at record: HistoryRecord) -> CanvasBox? {
        guard sight.joined != nil, case .box(let box) = sight.part, self.index.heal != nil,
            record.time >= max(self.index.healTime, sight.since) + Self.settleTime
        else { return nil }
        return box
    }

    private mutating func delivered(_ pair: Pair, _ record: HistoryRecord, _ place: Int) {
        if case .box = self.sights[pair]?.part { self.counts["updates-with-viewport", default: 0] += 1 }
        guard self.isCertain(record) else { return }
        for element in record.states.keys {
            self.changes[StoredElement(room: record.room, element: element)] = place
        }
    }

    /// True when no fault has an effect any more.
    private func isCertain(_ record: HistoryRecord) -> Bool {
        self.index.heal != nil && record.time >= self.index.healTime + Self.settleTime
    }

    // MARK: Out of view

    /// An app that saw an element leave gets nothing more of it until it comes back.
    private mutating func received(_ pair: Pair, _ record: HistoryRecord, _ place: Int) {
        let publisher = Publisher(record, by: record.sender)
        guard self.sights[pair]?.joined != nil else { return }
        let received = self.sights[pair]?.received.updateValue(place, forKey: publisher)
        guard let sight = self.sights[pair], let view = self.certainBox(sight, at: record), let box = record.box else {
            return
        }
        self.finding.checked += 1
        guard view.isOutOfSight(box), let former = received, self.isLeaving(former, view, sight, record) else { return }
        let sent = self.sent[publisher] ?? []
        let start = sent.last { $0 < former && self.index.history[$0].body == self.index.history[former].body }
        guard let start else { return }
        if let path = self.path(of: sent, from: start), view.isOutOfSight(path) {
            self.finding.violated("a preview of what was out of view already", [former, place])
        }
    }

    /// A box around everything that was sent from a place on; nil when that is not known of all of it. What goes from one
    /// side of a view to the other one may be shown on its way.
    private func path(of sent: [Int], from start: Int) -> CanvasBox? {
        var path: CanvasBox?
        for place in sent.reversed().prefix(while: { $0 >= start }) {
            guard let box = self.index.history[place].box else { return nil }
            path = path?.union(box) ?? box
        }
        return path
    }

    /// Whether a preview, received before another, showed the same gesture out of view.
    private func isLeaving(_ place: Int, _ view: CanvasBox, _ sight: Sight, _ next: HistoryRecord) -> Bool {
        let record = self.index.history[place]
        return record.gesture == next.gesture && next.time - record.time <= Self.longestPause
            && record.box.map(view.isOutOfSight) ?? false && self.certainBox(sight, at: record) != nil
    }

    private mutating func countHidden(_ record: HistoryRecord) {
        guard let box = record.box, self.isCertain(record) else { return }
        for (pair, sight) in self.sights where pair.room == record.room && pair.client != record.client {
            if let view = self.certainBox(sight, at: record), view.isOutOfSight(box) {
                self.counts["\(record.kind == .pointed ? "cursors" : "previews")-out-of-view", default: 0] += 1
            }
        }
    }

    // MARK: In view

    private mutating func invoked(_ record: HistoryRecord, _ place: Int) {
        for element in record.requested {
            var publisher = Publisher(record, by: record.client)
            publisher.element = element
            self.commits[publisher] = (place, max(record.gesture, self.commits[publisher]?.gesture ?? 0))
        }
    }

    /// At the end apps that look there have the last preview of a gesture that goes on, and those that look elsewhere do
    /// not show its element in their view any more.
    private mutating func checkEnd(of last: Int, by publisher: Publisher) {
        let record = self.index.history[last]
        guard let box = record.box, self.isCertain(record), self.goesOn(last, by: publisher) else { return }
        for (pair, sight) in self.sights.sorted(by: { $0.key.client < $1.key.client })
        where pair.room == publisher.room && pair.client != publisher.client {
            guard let joined = sight.joined, joined < last else { continue }
            switch sight.part {
            case .unknown: continue
            case .everything: self.checkArrival(of: last, by: publisher, at: pair.client, sight)
            case .box(let view) where view.contains(box):
                self.counts["last-previews-in-view", default: 0] += 1
                self.checkArrival(of: last, by: publisher, at: pair.client, sight)
            case .box(let view) where view.isOutOfSight(box):
                self.checkDeparture(of: last, by: publisher, at: pair.client, sight, joined, view)
            case .box: continue
            }
        }
    }

    /// True when the publisher is in the room since before its preview, has not ended the gesture, and the element exists.
    private func goesOn(_ last: Int, by publisher: Publisher) -> Bool {
        let place = Pair(client: publisher.client, room: publisher.room)
        guard let joined = self.sights[place]?.joined, joined < last else { return false }
        if publisher.element.isEmpty { return true }
        let gesture = self.index.history[last].gesture
        let isOpen = self.commits[publisher].map { $0.place < last && $0.gesture < gesture } ?? true
        return isOpen && self.stored(publisher) != nil
    }

    /// The element at the end.
    private func stored(_ publisher: Publisher) -> HistoryRecord? {
        let elements = self.index.rooms[publisher.room]?.elements ?? []
        return elements.lazy.map { self.index.history[$0] }.first { $0.element == publisher.element }
    }

    private mutating func checkArrival(of last: Int, by publisher: Publisher, at client: String, _ sight: Sight) {
        let seen = sight.received[publisher]
        let isSeen = seen.map { $0 > last && self.index.history[$0].body == self.index.history[last].body } ?? false
        self.finding.expect(
            isSeen, "\(client) did not get the last preview in view", [last] + [seen].compactMap(\.self))
    }

    /// What an app shows last of an element that has left its view, of the gesture or else as stored before it, must not be
    /// in the view.
    private mutating func checkDeparture(
        of last: Int, by publisher: Publisher, at client: String, _ sight: Sight, _ joined: Int, _ view: CanvasBox
    ) {
        let gesture = self.index.history[last].gesture
        let first = self.sent[publisher]?.first { self.index.history[$0].gesture == gesture } ?? last
        let changed = self.changes[StoredElement(room: publisher.room, element: publisher.element)] ?? 0
        let seen = sight.received[publisher].flatMap { self.index.history[$0].gesture == gesture ? $0 : nil }
        guard changed < seen ?? first, seen != nil || joined < first && self.isCertain(self.index.history[first]),
            let shown = seen.map({ self.index.history[$0].box }) ?? self.stored(publisher)?.box
        else { return }
        self.counts["departures", default: 0] += 1
        self.finding.expect(
            !view.contains(shown), "\(client) still shows in view what has left it", [last] + [seen].compactMap(\.self))
    }
}
