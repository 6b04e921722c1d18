/// Walks through a history as the apps saw it: each app's view of a room, from join to join (I5, I6, I10, I13).
struct ViewReplay {
    /// The longest time until an app has what happened, once all faults have ended, ms.
    static let convergenceTime = 5000.0

    /// An app and a room.
    private struct Pair: Hashable {
        var client: String
        var room: String
    }

    private struct View {
        enum State {
            /// In the room, and in step with it.
            case joined
            /// Told that it missed something, or without a connection: it will join again.
            case behind(since: Int)
            /// Out of the room because it wanted to.
            case away
        }

        var state = State.joined
        var epoch: String
        /// The last number that it has.
        var seq: UInt64
        /// The record that set `seq`.
        var at: Int
        /// Where it joined last.
        var joined: Int
    }

    /// The gestures of an app on an element.
    private struct Publisher: Hashable {
        var room: String
        var client: String
        var element: String
    }

    /// The gestures of one of its sessions: their numbers mean nothing in another.
    private struct Movement: Hashable {
        var publisher: Publisher
        var session: String
    }

    /// A commit that ends a gesture and those before it.
    private struct Closing {
        var gesture: UInt64
        /// The room's number from which on they are closed.
        var seq: UInt64
        var row: Int
    }

    private let index: HistoryIndex
    private var views: [Pair: View] = [:]
    /// By gesture; each with the earliest commit that ends it or a later one.
    private var closings: [Movement: [Closing]] = [:]
    /// What was sent of a gesture.
    private struct Sent {
        /// Where its first preview is, and the fields that this has.
        let place: Int
        let first: Set<String>
        /// The fields of all so far; nil when they are not known of each.
        var fields: Set<String>?
    }
    private var sent: [Publisher: [UInt64: Sent]] = [:]
    /// When a change was first seen by anybody.
    private var firstSeen: [Int: Double] = [:]

    var prefix = Verdict.Finding()
    var convergence = Verdict.Finding()
    var previews = Verdict.Finding()
    var isolation = Verdict.Finding()
    /// Where apps were given whole rooms, by room.
    private(set) var snapshots: [String: [Int]] = [:]

    init(_ index: HistoryIndex) {
        self.index = index
        for commit in index.commits {
            guard let invoke = commit.invoke, let row = commit.rows.first else { continue }
            let (asked, stored) = (index.history[invoke], index.history[row])
            guard asked.gesture > 0 else { continue }
            for element in asked.requested {
                let publisher = Publisher(room: asked.room, client: asked.client, element: element)
                self.closings[Movement(publisher: publisher, session: asked.session), default: []]
                    .append(Closing(gesture: asked.gesture, seq: stored.seq, row: row))
            }
        }
        for (movement, unsorted) in self.closings {
            var closings = unsorted.sorted { $0.gesture < $1.gesture }
            for place in closings.indices.dropLast().reversed() where closings[place + 1].seq < closings[place].seq {
                closings[place].seq = closings[place + 1].seq
                closings[place].row = closings[place + 1].row
            }
            self.closings[movement] = closings
        }
    }

    /// The earliest commit that ends a gesture.
    private func closing(of gesture: UInt64, _ movement: Movement) -> Closing? {
        guard let closings = self.closings[movement] else { return nil }
        let place = firstIndex(in: closings) { $0.gesture >= gesture }
        return place < closings.count ? closings[place] : nil
    }

    mutating func run() {
        for place in self.index.history.indices { self.step(place) }
        self.settle()
    }

    private mutating func step(_ place: Int) {
        let record = self.index.history[place]
        switch record.kind {
        case .ok: self.saw(record, row: self.index.commit(of: record)?.rows.first)
        case .snapshot: self.joined(record, place)
        case .resumed: self.resumed(record, place)
        case .deliver: self.delivered(record, place)
        case .resync:
            guard self.isJoined(record, place) else { return }
            self.views[Pair(client: record.client, room: record.room)]?.state = .behind(since: place)
        case .left:
            self.views[Pair(client: record.client, room: record.room)]?.state =
                record.isFinal ? .away : .behind(since: place)
        case .started:
            // A new run of the app has seen nothing.
            self.views[Pair(client: record.client, room: record.room)]?.seq = 0
        case .previewSent:
            let publisher = Publisher(room: record.room, client: record.client, element: record.element)
            let fields = record.targets.isEmpty ? nil : Set(record.targets)
            var sent = self.sent[publisher]?[record.gesture] ?? Sent(place: place, first: fields ?? [], fields: fields)
            sent.fields = fields.flatMap { sent.fields?.union($0) }
            self.sent[publisher, default: [:]][record.gesture] = sent
        case .preview: self.previewed(record, place)
        default: break
        }
    }

    private mutating func saw(_ record: HistoryRecord, row: Int?) {
        guard let row, self.firstSeen[row] == nil else { return }
        self.firstSeen[row] = record.time
    }

    // MARK: Joins

    private mutating func joined(_ record: HistoryRecord, _ place: Int) {
        let pair = Pair(client: record.client, room: record.room)
        self.snapshots[record.room, default: []].append(place)
        if let old = self.views[pair] {
            let isBack = old.epoch == record.epoch && record.seq < old.seq
            self.prefix.expect(!isBack, "a join went back in its epoch", [old.at, place])
            self.checkReturn(old, place)
        }
        self.views[pair] = View(epoch: record.epoch, seq: record.seq, at: place, joined: place)
    }

    private mutating func resumed(_ record: HistoryRecord, _ place: Int) {
        let pair = Pair(client: record.client, room: record.room)
        if let old = self.views[pair] {
            self.prefix.expect(
                old.epoch == record.epoch && old.seq == record.seq, "resumed elsewhere than it was",
                [old.at, place])
            self.checkReturn(old, place)
        }
        self.views[pair] = View(epoch: record.epoch, seq: record.seq, at: place, joined: place)
    }

    /// An app that fell out of its room is soon back in it, once all faults have ended.
    private mutating func checkReturn(_ old: View, _ place: Int) {
        guard case .behind(let since) = old.state, self.index.heal != nil else { return }
        let from = max(self.index.healTime, self.index.history[since].time)
        let isSoon = self.index.history[place].time <= from + Self.convergenceTime
        self.convergence.expect(isSoon, "back in the room late", [since, place])
    }

    // MARK: Deliveries

    private mutating func isJoined(_ record: HistoryRecord, _ place: Int) -> Bool {
        let isKnown = self.views[Pair(client: record.client, room: record.room)] != nil
        self.isolation.expect(isKnown, "of a room that the app never joined", [place])
        return isKnown
    }

    private mutating func delivered(_ record: HistoryRecord, _ place: Int) {
        let pair = Pair(client: record.client, room: record.room)
        guard self.isJoined(record, place), let view = self.views[pair] else { return }
        guard case .joined = view.state else {
            // After a resync what follows is of no use to the app; without a connection nothing can follow.
            if case .behind(let since) = view.state, self.index.history[since].kind == .resync { return }
            return self.prefix.violated("delivered to an app that is not in the room", [view.at, place])
        }
        self.prefix.expect(record.seq == view.seq + 1, "\(view.seq + 1) was due", [view.at, place])
        self.views[pair]?.seq = record.seq
        self.views[pair]?.at = place
        guard let row = self.index.row(record.room, record.seq) else {
            if record.seq > self.index.rooms[record.room]?.floor ?? 0 {
                self.prefix.violated("delivered, but not in the log", [place])
            }
            return
        }
        let stored = self.index.history[row]
        let isSame = record.states == stored.states && record.event == stored.event
        self.prefix.expect(isSame, "delivered otherwise than it is in the log", [place, row])
        if record.number > 0, record.number != stored.number || record.session != stored.session {
            self.prefix.violated("delivered as another's commit", [place, row])
        }
        self.saw(record, row: row)
        self.checkDelay(record, row, view, place)
    }

    private mutating func checkDelay(_ record: HistoryRecord, _ row: Int, _ view: View, _ place: Int) {
        guard self.index.heal != nil else { return }
        let joined = self.index.history[view.joined].time
        let from = max(self.index.healTime, joined, self.firstSeen[row] ?? 0)
        self.convergence.expect(record.time <= from + Self.convergenceTime, "delivered late", [place, row])
    }

    /// At the end every app in a room has all of it.
    private mutating func settle() {
        guard let quiet = self.index.quiet else {
            return self.convergence.violated("the history has no quiet end", [])
        }
        for (pair, view) in self.views.sorted(by: { ($0.key.client, $0.key.room) < ($1.key.client, $1.key.room) }) {
            switch view.state {
            case .away: break
            case .behind(let since):
                self.convergence.expect(false, "\(pair.client) never came back to \(pair.room)", [since, quiet])
            case .joined:
                let end = self.index.rooms[pair.room]?.seq ?? 0
                self.convergence.expect(
                    view.seq == end, "\(pair.client) ends at \(view.seq) of \(end) in \(pair.room)", [view.at])
            }
        }
    }

    // MARK: Previews

    private mutating func previewed(_ record: HistoryRecord, _ place: Int) {
        guard self.isJoined(record, place), let view = self.views[Pair(client: record.client, room: record.room)] else {
            return
        }
        self.previews.checked += 1
        let publisher = Publisher(room: record.room, client: record.sender, element: record.element)
        if let sent = self.sent[publisher]?[record.gesture] {
            // On a later connection the app may see what it sent on an earlier one.
            if record.sender == record.client, sent.place > view.joined {
                self.previews.violated("a preview came back to its sender", [sent.place, place])
            }
            if let fields = sent.fields, !record.targets.isEmpty {
                let shown = Set(record.targets)
                if !shown.isSubset(of: fields) {
                    self.previews.violated("a preview of what its gesture has not moved", [sent.place, place])
                }
                if !sent.first.isSubset(of: shown) {
                    self.previews.violated("a preview without what its gesture has moved", [sent.place, place])
                }
            }
        } else {
            self.previews.violated("a preview that nobody sent", [place])
        }
        let movement = Movement(publisher: publisher, session: record.session)
        if let closing = self.closing(of: record.gesture, movement), closing.seq <= view.seq {
            self.previews.violated("a preview after the commit that ended it", [closing.row, view.at, place])
        }
    }
}
