import Canvas
import JSONBytes

/// What moves in a room: elements by themselves, by others, and by edits of this user that wait. It knows where they are drawn,
/// and tells the app which ones.
struct RoomMotion: Sendable {
    private let address: RoomAddress
    private(set) var playing: PlayingElements
    private(set) var movements = Movements()
    /// Elements with edits that move them, as they are drawn until the server says from when on.
    var waiting: [TextKey: Element] = [:]

    init(in address: RoomAddress, isOn: Bool) {
        self.address = address
        self.playing = PlayingElements(isOn: isOn)
    }

    var deadline: Int64? { earliest(self.movements.deadline, self.playing.deadline) }

    /// Whether an element moves, or was moved and not drawn since.
    func isMoving(_ id: TextKey) -> Bool { self.movements.isMoving(id) || self.playing.isMoving(id) }

    /// Where motion and animation have an element that is shown, at a time of the server's clock.
    func pose(of element: Element, at serverTime: Double?) -> Pose {
        self.playing.pose(of: element, at: serverTime) ?? element.pose
    }

    /// An element that is shown where this user holds it, it moves by itself, or others move it.
    mutating func drawn(_ id: TextKey, _ shown: Element?, isHeld: Bool, in frame: Frame) -> Element? {
        guard var element = self.waiting[id] ?? shown else { return nil }
        var pose = self.playing.pose(of: element, at: frame.serverTime)
        if !isHeld { pose = self.movements.drawn(element, playing: pose, at: frame.time) ?? pose }
        if let pose { element.pose = pose }
        return element
    }

    // MARK: Elements that move by themselves

    /// An element is stored otherwise; nil: it is gone.
    mutating func play(
        _ id: TextKey, _ stored: Element?, isLive: Bool, isBack: Bool = false, _ outbox: inout ClientOutbox
    ) {
        let output = self.playing.update(id, stored, isLive: isLive, isBack: isBack, outbox)
        if let output { self.address.tell(output, &outbox) }
    }

    /// All elements are others.
    mutating func playAll(_ elements: ElementTable, _ outbox: inout ClientOutbox) {
        let former = self.playing.elements
        let playing = elements.all.filter { !$0.playback.isEmpty }.map { TextKey($0.id) }
        let others = Set(playing).subtracting(former)
        for id in former + others.sorted(by: { $0.text < $1.text }) {
            self.play(id, elements[id], isLive: false, &outbox)
        }
    }

    /// Tells the app which elements have come to rest.
    mutating func endPlaying(_ outbox: inout ClientOutbox) {
        for id in self.playing.timeReached(outbox) { self.address.tell(.still(id.text), &outbox) }
    }

    /// The edit by which a hand catches elements, so that it holds what it touched: those that move in these fields stop
    /// where they are seen. Nil if none does.
    func halt(_ ids: [TextKey], _ fields: [ElementField], in contents: RoomContents, at now: Double?) -> ClientEdit? {
        guard !fields.isEmpty, let now else { return nil }
        let elements = ids.compactMap { contents.shown[$0] }.filter { element in
            !element.locked && fields.contains { self.playing.moves(TextKey(element.id), $0, at: now) }
        }
        guard let first = elements.first else { return nil }
        let isGroup = elements.count > 1
        let body = JSONObject { writer in
            if isGroup {
                writer.member("elements", elements.map(\.id))
            } else {
                writer.member("elementId", first.id)
            }
            writer.member("fields", fields.map { "\($0.name)" })
            writer.member("at", now)
        }
        var edit = ClientEdit(ids: ["halt"], event: isGroup ? "elements:halt" : "element:halt", body: body)
        for element in elements {
            let pose = self.pose(of: element, at: now)
            for field in fields { edit.halted[TextKey(element.id), default: TransformFields()][field] = pose[field] }
        }
        return edit
    }

    // MARK: Movements of others

    /// Somebody moves an element, which is shown as it is without that; `message` has what is common to a group.
    mutating func previewed(
        _ preview: JSONObject, in message: JSONObject, of element: Element, _ outbox: inout ClientOutbox
    ) {
        let movement = MovementPreview(
            sid: message["sid"]?.string.map(TextKey.init), gesture: message["gesture"]?.integer,
            fields: TransformFields(lenient: preview.value), gap: message["dt"]?.double.flatMap { $0 > 0 ? $0 : nil })
        let playing = self.playing.pose(of: element, at: outbox.serverTime)
        self.movements.previewed(movement, of: element, playing: playing, at: outbox.now)
        self.address.tell(.moving(element.id), &outbox)
    }

    /// Where an element is drawn now that others move; nil of another one.
    func movingPose(of id: TextKey, in contents: RoomContents, _ outbox: ClientOutbox) -> Pose? {
        guard self.movements.isMoving(id), let element = contents.shown[id] else { return nil }
        let playing = self.playing.pose(of: element, at: outbox.serverTime)
        return self.movements.pose(of: element, playing: playing, at: Double(outbox.now)) ?? playing ?? element.pose
    }

    /// Nothing of a gesture is shown any more: its element moves from where it was drawn to where it is stored; nil: it is
    /// gone.
    mutating func end(_ id: TextKey, at stored: Element?, from drawn: Pose?, _ outbox: inout ClientOutbox) {
        let pose = stored.map { self.pose(of: $0, at: outbox.serverTime) }
        self.movements.end(id, at: pose, from: drawn, now: outbox.now)
        self.address.tell(.moving(id.text), &outbox)
    }

    /// The elements whose gestures are over, because nothing was heard of them for too long. Outside of a viewport nothing
    /// is heard but their end.
    mutating func silent(in contents: RoomContents, outside viewport: Rect?, at now: Int64) -> [TextKey] {
        self.movements.silent(at: now).filter { id in
            let goesOn = self.isOutside(viewport, id, contents)
            if goesOn { self.movements.goOn(id, at: now) }
            return !goesOn
        }
    }

    /// The elements with gestures under way outside of a viewport, so that no previews come from there.
    func underWay(in contents: RoomContents, outside viewport: Rect?) -> [TextKey] {
        self.movements.underWay.filter { self.isOutside(viewport, $0, contents) }
    }

    private func isOutside(_ viewport: Rect?, _ id: TextKey, _ contents: RoomContents) -> Bool {
        guard let viewport, let target = self.movements.target(of: id), contents.shown[id]?.space == .canvas else {
            return false
        }
        return !viewport.contains(target)
    }
}
