import Canvas
import JSONBytes

/// One room: it joins, and routes what happens to its parts. The queue has this user's edits, `contents` what the server
/// confirmed and what is shown; the others are gestures and people.
///
///     idle ──► joining ──► parts ──► joined ──► joining (room:resync, a hole) …
///                 └──────► refused
struct ClientRoom: Sendable {
    enum Phase: Sendable {
        case idle, joining, parts, joined, refused
    }

    let id: TextKey
    /// What requests call it: another one after it was left and joined again, so that late answers find nobody.
    let serial: Int
    var phase = Phase.idle
    /// Whether it is left as soon as all edits have their results.
    var isLeaving = false
    var session: RoomSession
    var allowance = RoomAllowance()
    /// The shortest time between two previews, ms.
    var throttleMs: Int64 = 16
    var queue: EditQueue
    var contents = RoomContents()
    var gestures: OwnGestures
    var movements = Movements()
    var people = RoomPeople()
    var attention = OwnAttention()
    var saving: RoomSaving
    var search = DoubtSearch()
    var pause = RetryPause()
    /// When the room is joined again, because the server asked for a pause, ms.
    var retryAt: Int64?
    /// Until when no edit is sent, because the server asked for a pause, ms.
    var resumeAt: Int64?

    /// A room with what an earlier run of the app left.
    init(id: TextKey, serial: Int, queueLimit: Int, record: RoomRecord?) {
        self.id = id
        self.serial = serial
        self.session = RoomSession(secret: record?.session, sid: TextKey(record?.sid ?? ""))
        self.queue = EditQueue(
            capacity: queueLimit, nextNumber: record?.nextNumber ?? 1, edits: record?.edits.map(\.edit) ?? [])
        self.gestures = OwnGestures(lastNumber: record?.gesture ?? 0)
        self.saving = RoomSaving(isSaved: record != nil)
        self.touchEdits()
    }

    /// Whether the server's answer is known.
    var isSettled: Bool { self.phase == .joined || self.phase == .refused }
    /// Whether nothing is left to do before it is left.
    var canLeave: Bool { self.isLeaving && self.queue.openCount == 0 }

    var deadline: Int64? {
        earliest(
            self.retryAt, self.search.retryAt, self.resumeAt, self.phase == .joined ? self.gestures.deadline : nil,
            self.movements.deadline, self.attention.deadline)
    }

    mutating func timeReached(_ outbox: inout ClientOutbox) {
        let now = outbox.now
        if let retryAt, now >= retryAt { self.join(&outbox) }
        if let searchAt = self.search.retryAt, now >= searchAt { self.searchHistory(&outbox) }
        if let resumeAt, now >= resumeAt {
            self.resumeAt = nil
            self.pump(&outbox)
        }
        self.sendDuePreviews(&outbox)
        for id in self.movements.silent(at: now) { self.endMovement(id, &outbox) }
        if let cursor = self.attention.due(at: now, interval: self.throttleMs) { self.send(cursor, &outbox) }
    }

    mutating func connectionLost() {
        if self.phase != .refused { self.phase = .idle }
        self.retryAt = nil
        self.resumeAt = nil
        self.search.ended()
        self.contents.dropParts()
        self.queue.resendAll()
    }

    // MARK: What is shown

    /// The confirmed element with this user's edits and gestures on top.
    func composed(_ id: TextKey) -> Element? {
        var element = self.contents.confirmed[id]
        for edit in self.queue.edits where edit.isShown && edit.elementIds.contains(id) {
            element = edit.applied(to: element, id: id, in: self.scene(of: element))
        }
        return element.map { self.gestures.applied(to: $0, in: self.scene(of: $0)) }
    }

    private func scene(of element: Element?) -> EditScene {
        EditScene(rules: self.contents.rules, parentSize: element.flatMap(self.contents.parentSize(of:)))
    }

    /// An element where this user holds it, or others move it, at the time of a frame, ms.
    mutating func drawn(_ id: TextKey, at time: Double) -> Element? {
        guard let element = self.contents.shown[id], !self.gestures.isOn(id) else { return self.contents.shown[id] }
        return self.movements.drawn(element, at: time)
    }

    /// All elements that edits change are to be computed again.
    mutating func touchEdits() {
        for edit in self.queue.edits { self.contents.touch(edit.elementIds) }
    }

    /// The input is done: saves edits, computes again what changed, and reports it.
    mutating func finish(_ outbox: inout ClientOutbox) {
        self.save(&outbox)
        let ids = self.contents.takeTouched()
        if ids.isEmpty { return }
        for id in ids { self.contents.show(self.composed(id), id) }
        self.tell(.changed(ids.map(\.text)), &outbox)
    }

    private mutating func save(_ outbox: inout ClientOutbox) {
        guard self.saving.isDirty else { return }
        let record = RoomRecord(session: self.session, queue: self.queue, lastGesture: self.gestures.lastNumber)
        if let save = self.saving.due(record) { self.tell(save, &outbox) }
    }

    // MARK: Messages

    func tell(_ output: RoomOutput, _ outbox: inout ClientOutbox) {
        outbox.tell(.room(self.id.text, output))
    }

    /// Sends what may be lost.
    func send(_ event: String, _ outbox: inout ClientOutbox, _ payload: (inout JSONWriter) -> Void) {
        guard self.phase == .joined else { return }
        outbox.emit(event) { writer in
            writer.member("roomId", self.id.text)
            payload(&writer)
        }
    }

    /// Sends what has an answer.
    func ask(
        _ event: String, about subject: RequestSubject, _ outbox: inout ClientOutbox,
        _ payload: (inout JSONWriter) -> Void
    ) {
        outbox.request(event, about: subject) { writer in
            writer.member("roomId", self.id.text)
            payload(&writer)
        }
    }
}
