public import Canvas
import JSONBytes

/// One room: it joins, and routes what happens to its parts. `edits` and `gestures` are this user's, `contents` what the
/// server confirmed and what is shown, `motion` says where that is drawn; the others are people, and what this user shows
/// them.
///
///     idle ──► joining ──► parts ──► joined ──► joining (room:resync, a gap) …
///                 └──────► refused
struct ClientRoom: Sendable {
    enum Phase: Sendable {
        case idle, joining, parts, joined, refused
    }

    let address: RoomAddress
    var phase = Phase.idle
    /// Whether it is left as soon as all edits have their results.
    var isLeaving = false
    /// Whether edits that wait are given up then if this user may not enter it.
    var givesUp = false
    /// Why this user may not enter it; nil unless the join was refused.
    var denial: ClientError?
    /// The shortest time between two previews, ms.
    var throttleMs: Int64 = 16
    var edits: RoomEdits
    var contents = RoomContents()
    var gestures: OwnGestures
    var motion: RoomMotion
    var people = RoomPeople()
    var awareness: OwnAwareness
    /// When the room is joined again, because the server asked for a pause, ms.
    var retryAt: Int64?

    init(id: TextKey, serial: Int, queueLimit: Int, record: RoomRecord?, hasMotion: Bool) {
        self.address = RoomAddress(id: id, serial: serial)
        self.edits = RoomEdits(of: self.address, capacity: queueLimit, record: record)
        self.gestures = OwnGestures(in: self.address, lastNumber: record?.gesture ?? 0)
        self.motion = RoomMotion(in: self.address, isOn: hasMotion)
        self.awareness = OwnAwareness(in: self.address)
        self.edits.touchAll(&self.contents)
    }

    /// Whether the server's answer is known, with all of its parts.
    var isSettled: Bool { self.phase == .joined || self.phase == .refused }
    /// The same, while parts of the room may be missing.
    var isAnswered: Bool { self.isSettled || self.phase == .parts }
    /// Whether nothing is left to do before it is left.
    var canLeave: Bool { self.isLeaving && self.edits.openCount == 0 }

    var deadline: Int64? {
        earliest(
            self.retryAt, self.edits.deadline, self.gestures.deadline, self.motion.deadline,
            self.awareness.deadline)
    }

    mutating func timeReached(_ outbox: inout ClientOutbox) {
        if let retryAt, outbox.now >= retryAt { self.join(&outbox) }
        self.edits.timeReached(self.contents, &outbox)
        self.gestures.timeReached(interval: self.throttleMs, &outbox)
        self.endSilentMovements(&outbox)
        self.motion.endPlaying(&outbox)
        self.awareness.timeReached(interval: self.throttleMs, &outbox)
    }

    mutating func connectionLost() {
        if self.phase != .refused { self.phase = .idle }
        self.retryAt = nil
        self.contents.dropParts()
        self.gestures.isOpen = false
        self.awareness.connectionLost()
        self.edits.connectionLost()
    }

    // MARK: What is shown

    /// The confirmed element with this user's edits and gestures on top.
    /// - Parameter isWaiting: without edits that move it.
    func composed(_ id: TextKey, isWaiting: Bool = false) -> Element? {
        let element = self.edits.applied(
            to: self.contents.confirmed[id], id: id, in: self.contents, isWaiting: isWaiting)
        return element.map { self.gestures.applied(to: $0, in: self.contents.scene(of: $0)) }
    }

    /// An element where this user holds it, it moves by itself, or others move it.
    mutating func drawn(_ id: TextKey, in frame: Frame) -> Element? {
        self.motion.drawn(id, self.contents.shown[id], isHeld: self.gestures.isOn(id), in: frame)
    }

    /// Some elements in the order of these ids, or all of them, the lowest first, where they are to be drawn.
    mutating func drawing(of ids: [TextKey]?, in frame: Frame) -> RoomDrawing {
        var drawing = RoomDrawing()
        for id in ids ?? self.contents.shown.keepOrder() {
            guard let element = self.drawn(id, in: frame) else { continue }
            drawing.append(element, isMoving: self.motion.isMoving(id))
        }
        return drawing
    }

    /// The input is done: saves edits, computes again what changed, and reports it.
    mutating func finish(_ outbox: inout ClientOutbox) {
        if self.givesUp, self.phase == .refused, let denial { self.edits.giveUp(denial, &self.contents, &outbox) }
        self.edits.save(lastGesture: self.gestures.lastNumber, &outbox)
        let ids = self.contents.takeTouched()
        if ids.isEmpty { return }
        for id in ids {
            self.contents.shown[id] = self.composed(id)
            self.motion.waiting[id] = self.edits.areMoving(id) ? self.composed(id, isWaiting: true) : nil
        }
        self.tell(.changed(ids.map(\.text)), &outbox)
    }

    func tell(_ output: RoomOutput, _ outbox: inout ClientOutbox) {
        self.address.tell(output, &outbox)
    }
}

extension ClientRoom {
    mutating func perform(_ input: RoomInput, _ outbox: inout ClientOutbox) {
        switch input {
        case .join: self.joinedAgain(&outbox)
        case .leave: (self.isLeaving, self.givesUp) = (true, true)
        case .deliver: self.isLeaving = true
        case .edit(let id, let event, let body):
            self.edits.edit(ClientEdit(ids: [id], event: event, body: body), &self.contents, &outbox)
        case .historyRead(let after, let page): self.edits.historyRead(after: after, page, &self.contents, &outbox)
        case .gestureBegan(let name, let ids, let pivot):
            self.gestureBegan(name, elementIds: ids, pivot: pivot, &outbox)
        case .gestureMoved(let name, let fields): self.gestureMoved(name, fields, &outbox)
        case .gestureEnded(let name, let id): self.gestureEnded(name, id: id, &outbox)
        case .gestureThrown(let name, let id, let throwing):
            self.gestureEnded(name, id: id, throwing: throwing, &outbox)
        case .gestureCancelled(let name):
            if let ids = self.gestures.cancel(name, &outbox) { self.contents.touch(ids) }
        case .pointed(let point): self.awareness.pointed(point, interval: self.throttleMs, &outbox)
        case .selected(let ids): self.awareness.selected(ids, &outbox)
        case .looked(let viewport, let isShared):
            self.awareness.looked(viewport, isShared: isShared, interval: self.throttleMs, &outbox)
        case .signaled(let name, let json):
            guard self.phase == .joined else { return }
            self.address.send("room:signal", &outbox) { writer in
                writer.member("name", name)
                writer.member("data", raw: Array(json.utf8))
            }
        case .presented(let state): self.awareness.presented(state, interval: self.throttleMs, &outbox)
        }
    }
}

/// What a room, or a part of it, looks like at one moment.
public struct RoomDrawing: Sendable {
    /// Elements where they are to be drawn. Those that are not there any more are missing.
    public private(set) var elements: [Element] = []
    /// The ids of those that still move, so that the next frame differs.
    public private(set) var moving: [String] = []

    /// Whether one of them moves.
    public var isMoving: Bool { !self.moving.isEmpty }

    /// Nothing, as of a room that was left.
    package init() {}

    mutating func append(_ element: Element, isMoving: Bool) {
        self.elements.append(element)
        if isMoving { self.moving.append(element.id) }
    }
}
