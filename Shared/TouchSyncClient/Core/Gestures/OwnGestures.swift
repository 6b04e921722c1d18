import Canvas
import JSONBytes

/// A gesture of this user, from the first touch until the fingers are lifted.
struct OwnGesture: Sendable {
    let number: Int64
    let elementIds: [TextKey]
    /// The same, for finding one: each element of a group asks, at each frame.
    fileprivate let idSet: Set<TextKey>
    /// About which a group turns and scales.
    let pivot: Point?
    fileprivate(set) var fields = GestureFields()
    fileprivate var throttle = Throttle<GestureFields>(interval: 16)
    fileprivate(set) var trail: FingerTrail
    /// When others last saw it, ms; nil before the first preview.
    fileprivate(set) var sentAt: Int64?

    private var isGroup: Bool { self.elementIds.count != 1 }

    private func event(_ name: String) -> String { (self.isGroup ? "elements:" : "element:") + name }

    /// The edit that stores what the fingers did, or throws what they hold; nil if they did not move.
    /// - Parameter id: the app's name of it.
    func edit(id: String, throwing: GestureThrow?, in contents: RoomContents, at now: Int64) -> ClientEdit? {
        if let throwing, let body = self.thrown(throwing, in: contents, at: now) {
            return ClientEdit(ids: [id], event: self.event("throw"), body: body)
        }
        if self.fields.isEmpty { return nil }
        let body = JSONObject { self.encodeMembers(self.fields, into: &$0) }
        return ClientEdit(ids: [id], event: self.event("gesture"), body: body)
    }

    /// What of its elements it sets. About a pivot a scaling turns, too.
    private var heldFields: [ElementField] {
        var fields = self.fields.heldFields
        if self.isGroup { fields += [.rotation] }
        return [.positionX, .positionY] + ElementField.inTransform.filter { fields.contains($0) }
    }

    /// The payload of a throw; nil if the fingers rest, or set what a throw does not.
    private func thrown(_ throwing: GestureThrow, in contents: RoomContents, at now: Int64) -> JSONObject? {
        let elements = self.elementIds.compactMap { contents.shown[$0] }
        let measured = self.fields.translation.map { self.trail.velocity(at: $0, now: now) } ?? .zero
        let velocity = throwing.velocity ?? measured
        guard self.fields.anchor == nil, let first = elements.first,
            (velocity.x * velocity.x + velocity.y * velocity.y).squareRoot()
                > GestureThrow.least * ElementField.positionX.motionUnit(in: first.space)
        else { return nil }
        var request = throwing.request
        request.velocity = velocity
        return JSONObject { writer in
            if self.isGroup {
                writer.objects("elements", elements) { self.encodePlace(of: $0, into: &$1) }
            } else {
                self.encodePlace(of: first, into: &writer)
            }
            request.encodeMembers(into: &writer)
            writer.member("gesture", self.number)
        }
    }

    private func encodePlace(of element: Element, into writer: inout JSONWriter) {
        writer.member("elementId", element.id)
        writer.member("positionX", element.positionX)
        writer.member("positionY", element.positionY)
        writer.object("transform") { writer in
            for field in self.heldFields where field.isInTransform {
                writer.member(field.name, ifPresent: element[field])
            }
        }
    }

    /// Shows others where the fingers have its elements.
    fileprivate func preview(_ fields: GestureFields, in address: RoomAddress, _ outbox: inout ClientOutbox) {
        address.send(self.event("gesturing"), &outbox) { self.encodeMembers(fields, into: &$0) }
    }

    private func encodeMembers(_ fields: GestureFields, into writer: inout JSONWriter) {
        if self.isGroup {
            writer.member("elements", self.elementIds.map(\.text))
            if let pivot = self.pivot { writer.member("pivot", pivot) }
        } else if let id = self.elementIds.first {
            writer.member("elementId", id.text)
        }
        fields.encodeMembers(into: &writer, withAnchor: !self.isGroup)
        writer.member("gesture", self.number)
    }

    /// When others must see it again, ms: the last value that waits, or the same again while the fingers rest.
    fileprivate var deadline: Int64? { earliest(self.throttle.deadline, self.sentAt?.plus(OwnGestures.repetition)) }
}

/// The gestures of this user in a room, by the app's names. Others see them while they last.
struct OwnGestures: Sendable {
    /// What others saw of a gesture is repeated this often while its fingers rest, ms.
    static let repetition: Int64 = 1000

    private let address: RoomAddress
    /// Whether anything may be sent: the room is joined.
    var isOpen = false
    private(set) var lastNumber: Int64
    private var underWay: [(name: TextKey, gesture: OwnGesture)] = []

    /// No gestures, after those that an earlier run had.
    init(in address: RoomAddress, lastNumber: Int64 = 0) {
        self.address = address
        self.lastNumber = lastNumber
    }

    var deadline: Int64? { self.isOpen ? self.underWay.compactMap(\.gesture.deadline).min() : nil }

    /// Whether this user has fingers on an element.
    func isOn(_ id: TextKey) -> Bool {
        self.underWay.contains { $0.gesture.idSet.contains(id) }
    }

    // MARK: Fingers

    /// Fingers touched elements. The pivot of a group is the centre of the rectangle around the elements' positions,
    /// unless the app has another one.
    mutating func begin(_ name: String, _ ids: [TextKey], pivot: Point?, in contents: RoomContents, at now: Int64) {
        self.lastNumber = self.lastNumber.plus(1)
        let positions = ids.compactMap { contents.shown[$0]?.pose.position }
        let gesture = OwnGesture(
            number: self.lastNumber, elementIds: ids, idSet: Set(ids),
            pivot: ids.count > 1 ? pivot ?? Rect(around: positions).center : nil, trail: FingerTrail(at: now))
        self.underWay.removeAll { $0.name == TextKey(name) }
        self.underWay.append((TextKey(name), gesture))
    }

    /// The fingers moved.
    /// - Returns: the elements under them, and what of these they did not set before; nil if there is no such gesture.
    mutating func move(_ name: String, _ fields: GestureFields, at now: Int64) -> (
        ids: [TextKey], held: [ElementField]
    )? {
        guard let index = self.index(of: name) else { return nil }
        let known = self.underWay[index].gesture.fields.heldFields
        self.underWay[index].gesture.fields.merge(fields)
        if let translation = fields.translation { self.underWay[index].gesture.trail.moved(to: translation, at: now) }
        return (self.underWay[index].gesture.elementIds, fields.heldFields.filter { !known.contains($0) })
    }

    mutating func lift(_ name: String) -> OwnGesture? {
        self.index(of: name).map { self.underWay.remove(at: $0).gesture }
    }

    /// Nothing is to change: others see the elements where they are stored.
    /// - Returns: these; nil if there is no such gesture.
    mutating func cancel(_ name: String, _ outbox: inout ClientOutbox) -> [TextKey]? {
        guard let gesture = self.lift(name) else { return nil }
        guard self.isOpen, gesture.sentAt != nil else { return gesture.elementIds }
        var still = GestureFields()
        (still.translation, still.scale, still.rotation) = (.zero, Point(x: 1, y: 1), 0)
        if gesture.fields.tilt != nil { still.tilt = .zero }
        gesture.preview(still, in: self.address, &outbox)
        return gesture.elementIds
    }

    // MARK: Previews

    /// Shows others the latest movement, now or later: at most one in an interval, ms.
    mutating func offer(_ name: String, interval: Int64, _ outbox: inout ClientOutbox) {
        guard self.isOpen, let index = self.index(of: name) else { return }
        let fields = self.underWay[index].gesture.fields
        self.underWay[index].gesture.throttle.interval = interval
        let due = self.underWay[index].gesture.throttle.offer(fields, at: outbox.now)
        if let due { self.preview(index, due, &outbox) }
    }

    /// Sends the previews that waited until now, or are repeated.
    mutating func timeReached(interval: Int64, _ outbox: inout ClientOutbox) {
        guard self.isOpen else { return }
        for index in self.underWay.indices {
            let gesture = self.underWay[index].gesture
            self.underWay[index].gesture.throttle.interval = interval
            if let due = self.underWay[index].gesture.throttle.due(at: outbox.now) {
                self.preview(index, due, &outbox)
            } else if let sentAt = gesture.sentAt, outbox.now >= sentAt.plus(Self.repetition) {
                self.preview(index, gesture.fields, &outbox)
            }
        }
    }

    private mutating func preview(_ index: Int, _ fields: GestureFields, _ outbox: inout ClientOutbox) {
        self.underWay[index].gesture.sentAt = outbox.now
        self.underWay[index].gesture.preview(fields, in: self.address, &outbox)
    }

    // MARK: What is shown

    /// An element with what the fingers did to it. Positions are not rounded, but within the rules.
    func applied(to element: Element, in scene: EditScene) -> Element {
        var element = element
        let id = TextKey(element.id)
        for (_, gesture) in self.underWay where gesture.idSet.contains(id) && !element.locked {
            scene.rules.draw(gesture.fields.gesture, on: &element, pivot: gesture.pivot, parentSize: scene.parentSize)
        }
        return element
    }

    private func index(of name: String) -> Int? {
        self.underWay.firstIndex { $0.name == TextKey(name) }
    }
}

extension GestureFields {
    /// What of an element these parts set, but its position.
    fileprivate var heldFields: [ElementField] {
        (self.rotation == nil ? [] : [.rotation]) + (self.scale == nil ? [] : [.scaleX, .scaleY])
            + (self.tilt == nil ? [] : [.rotationX, .rotationY])
    }
}
