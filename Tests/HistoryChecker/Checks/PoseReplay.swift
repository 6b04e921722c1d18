import Canvas
import JSONBytes

/// Where clients showed elements that move, against where the log has them at that time of the server's clock (I25).
///
/// What moves an element is in its state; when it starts on a screen follows from how and when the client heard of it.
/// Rooms whose log has a floor are not judged.
struct PoseReplay {
    /// An app and a room.
    private struct Pair: Hashable {
        var client: String
        var room: String
    }

    /// What moves an element: the track of a field, or its animation.
    private enum Publisher: Hashable {
        case track(ElementField)
        case animation
    }

    private struct Screen {
        /// The room's number that is shown.
        var seq: UInt64 = 0
        /// The last number that came in the answer to a join.
        var joinedUpTo: UInt64 = 0
        /// By how much its clock was ahead of the server's at most, ms.
        var ahead = 0.0
        /// By element: what started here at another time than the server says.
        var shifts: [String: [Publisher: Double]] = [:]
    }

    /// An app's request.
    private struct Request: Hashable {
        var client: String
        var number: UInt64
    }

    /// A live update that was heard of later starts what it brings so long before it arrives, ms.
    private static let earliest = 300.0
    /// A client has a true clock if it differs from the server's by less, ms.
    private static let trueClock = 10.0

    private let index: HistoryIndex
    private let states: [String: RoomStates]
    private var screens: [Pair: Screen] = [:]
    private var requests: [Request: Int] = [:]
    /// Elements with a motion or an animation, by the place of their row.
    private var elements: [Int: [String: Element]] = [:]
    private(set) var finding = Verdict.Finding()
    private(set) var counts: [String: Int64] = [:]

    init(_ index: HistoryIndex, _ states: [String: RoomStates]) {
        self.index = index
        self.states = states
    }

    mutating func run() {
        guard self.index.history.contains(where: { $0.kind == .posed }) else { return }
        for place in self.index.history.indices { self.step(place) }
    }

    private mutating func step(_ place: Int) {
        let record = self.index.history[place]
        let pair = Pair(client: record.client, room: record.room)
        switch record.kind {
        case .request: self.requests[Request(client: record.client, number: record.number)] = place
        case .answer: self.checkClock(record, place)
        case .started: self.screens[pair] = Screen()
        case .snapshot:
            let ahead = self.screens[pair]?.ahead ?? 0
            self.screens[pair] = Screen(seq: record.seq, joinedUpTo: record.seq, ahead: ahead)
        case .resumed: self.screens[pair]?.joinedUpTo = record.to
        case .shown where !record.isFinal: self.advance(pair, record)
        case .posed:
            self.advance(pair, record)
            for id in record.elements.keys.sorted() { self.check(id, record, place) }
        case .log: for id in record.states.keys.sorted() { self.checkEnds(of: id, record, place) }
        default: break
        }
    }

    /// The server told its time while it had the request.
    private mutating func checkClock(_ record: HistoryRecord, _ place: Int) {
        let request = self.requests.removeValue(forKey: Request(client: record.client, number: record.number))
        guard let told = record.at, let request else { return }
        self.finding.expect(
            told >= self.index.history[request].time && told <= record.time, "a server with another clock",
            [request, place])
    }

    // MARK: Starts

    /// A client shows a room up to a number.
    private mutating func advance(_ pair: Pair, _ record: HistoryRecord) {
        guard var screen = self.screens[pair], let rows = self.index.rooms[pair.room]?.rows else { return }
        let first = firstIndex(in: rows) { self.index.history[$0].seq > screen.seq }
        for row in rows[first...].prefix(while: { self.index.history[$0].seq <= record.seq }) {
            for id in self.index.history[row].states.keys { self.hear(of: id, row, on: &screen, at: record.at) }
        }
        screen.seq = record.seq
        screen.ahead = max(screen.ahead, (record.at ?? 0) - record.time)
        self.screens[pair] = screen
    }

    /// A client hears of a change. What a live one starts begins when the server says, but not after it arrives, and hardly
    /// before, unless an undo brings it back; what comes with a join, when the server says.
    private mutating func hear(of id: String, _ row: Int, on screen: inout Screen, at arrival: Double?) {
        let record = self.index.history[row]
        guard let element = self.element(id, row), let arrival, record.seq > screen.joinedUpTo else {
            screen.shifts[id] = nil
            return
        }
        let former = self.states[record.room]?.state(of: id, at: record.seq - 1).flatMap { self.element(id, $0.row) }
        let before = former.map(Self.starts) ?? [:]
        var shifts: [Publisher: Double] = [:]
        for (publisher, startedAt) in Self.starts(of: element) {
            if before[publisher] == startedAt {
                shifts[publisher] = screen.shifts[id]?[publisher]
            } else if startedAt > arrival {
                shifts[publisher] = arrival
            } else if startedAt < arrival - Self.earliest, record.cause.isEmpty {
                shifts[publisher] = arrival - Self.earliest
            }
        }
        screen.shifts[id] = shifts.isEmpty ? nil : shifts
    }

    private static func starts(of element: Element) -> [Publisher: Double] {
        var starts: [Publisher: Double] = [:]
        for entry in element.motion.tracks.entries { starts[.track(entry.field)] = entry.value.startedAt }
        if let animation = element.animation { starts[.animation] = animation.startedAt }
        return starts
    }

    /// An element as a row left it; nil unless something moves it.
    private mutating func element(_ id: String, _ row: Int) -> Element? {
        if let element = self.elements[row]?[id] { return element }
        guard let body = self.index.history[row].states[id], body.contains(Self.mark) else { return nil }
        let element = Element(stored: body)
        self.elements[row, default: [:]][id] = element
        return element
    }

    /// What is in every motion and every animation.
    private static let mark = "\"startedAt\":"

    // MARK: Poses

    /// What moves a field leads to where it is stored.
    private mutating func checkEnds(of id: String, _ record: HistoryRecord, _ place: Int) {
        guard let element = self.element(id, place) else { return }
        for (field, track) in element.motion.tracks.entries.map({ ($0.field, $0.value) }) {
            guard let end = track.segments.last?.to else { continue }
            self.finding.expect(
                field.isSame(end, element.pose[field], within: field.tolerance(in: element.space)),
                "the track of \(field) leads to \(end)", [place])
        }
    }

    private mutating func check(_ id: String, _ record: HistoryRecord, _ place: Int) {
        guard let at = record.at, let screen = self.screens[Pair(client: record.client, room: record.room)],
            let states = self.states[record.room], states.isWhole, let geometry = record.geometry[id],
            let text = record.elements[id],
            let state = states.state(of: id, at: record.seq), !state.body.isEmpty
        else { return }
        var element = self.element(id, state.row) ?? Element(stored: state.body)
        for (publisher, start) in screen.shifts[id] ?? [:] {
            switch publisher {
            case .track(let field): element.motion[field]?.startedAt = start
            case .animation: element.animation?.startedAt = start
            }
        }
        let (shown, own) = (Element(stored: text).pose, Element(stored: geometry).pose)
        let (expected, moving) = (element.pose(at: at), element.playback.fields(at: at))
        // By a clock that was ahead it may be over.
        let mayRest = element.playback.fields(at: record.time + screen.ahead).isEmpty
        var isJudged = false
        for field in ElementField.animated {
            // What the client's user set, and the server has not stored, is shown so.
            let isOwn = own[field] != element.pose[field]
            let isMoving = !isOwn && moving.contains(field)
            isJudged = isJudged || isMoving
            let value = isOwn ? own[field] : expected[field]
            let isSame = field.isSame(shown[field], value, within: isMoving ? field.tolerance(in: element.space) : 0)
            self.finding.expect(
                isSame || mayRest && shown[field] == element.pose[field],
                "\(id) is shown with \(field) \(shown[field]) instead of \(value)", [state.row, place])
        }
        self.count(id, state, record, on: screen, isMoving: isJudged)
    }

    private mutating func count(
        _ id: String, _ state: RoomStates.State, _ record: HistoryRecord, on screen: Screen, isMoving: Bool
    ) {
        guard let at = record.at else { return }
        if isMoving {
            self.counts["poses", default: 0] += 1
            if abs(at - record.time) < Self.trueClock { self.counts["poses-on-time", default: 0] += 1 }
            if state.seq <= screen.joinedUpTo { self.counts["poses-joined", default: 0] += 1 }
            if screen.shifts[id] != nil { self.counts["poses-late", default: 0] += 1 }
        } else {
            self.counts["poses-at-rest", default: 0] += 1
        }
        // What would go on if it had not been stopped.
        let former = self.states[record.room]?.state(of: id, at: state.seq - 1).flatMap { self.element(id, $0.row) }
        guard let former, !former.playback.fields(at: at).isEmpty else { return }
        let row = self.index.history[state.row]
        if !row.cause.isEmpty { self.counts["poses-undone", default: 0] += 1 }
        let event = self.index.commit(of: row)?.invoke.map { self.index.history[$0].event }
        if event?.hasSuffix(":halt") ?? false { self.counts["poses-halted", default: 0] += 1 }
    }
}

extension Element {
    /// What a state tells of it; fields that are missing or cannot be read have their defaults.
    init(stored state: String) {
        self.init(id: "", type: "", createdBy: "")
        var document = JSONDocument()
        do { try document.parse(Array(state.utf8)) } catch { return }
        var previous: ElementField?
        for (key, value) in document.root.members {
            guard let field = ElementField.named(key, after: previous) else { continue }
            previous = field
            _ = field.read(value, into: &self)
        }
    }
}

extension ElementField {
    /// How far what two screens show may be apart: half a pixel, a tenth of a degree, and of scales and opacity what is
    /// seen as little.
    fileprivate func tolerance(in space: Space) -> Double {
        if self.isAngle { return 0.1 }
        let isLength = [.positionX, .positionY, .positionZ].contains(self)
        return (isLength ? 0.5 : 0.005) * self.motionUnit(in: space)
    }

    /// Whether two values look the same. Angles are, by any number of turns.
    fileprivate func isSame(_ value: Double, _ other: Double, within tolerance: Double) -> Bool {
        let difference = abs(value - other)
        guard self.isAngle else { return difference <= tolerance }
        let turn = difference.truncatingRemainder(dividingBy: 360)
        return min(turn, 360 - turn) <= tolerance
    }
}
