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

    /// The event of a preview, or that of the commit that ends the gesture.
    func event(isCommit: Bool) -> String {
        (self.isGroup ? "elements:" : "element:") + (isCommit ? "gesture" : "gesturing")
    }

    /// The event of a throw that ends the gesture.
    var throwEvent: String { self.isGroup ? "elements:throw" : "element:throw" }

    /// What of its elements it sets. About a pivot a scaling turns, too.
    var heldFields: [ElementField] {
        var fields = self.fields.heldFields
        if self.isGroup { fields += [.rotation] }
        return [.positionX, .positionY] + ElementField.inTransform.filter { fields.contains($0) }
    }

    /// The payload of a throw; nil if the fingers rest, or set what a throw does not.
    /// - Parameter elements: where they are.
    func thrown(_ elements: [Element], _ throwing: GestureThrow, at now: Int64) -> JSONObject? {
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

    /// Writes the payload without the room.
    func encodeMembers(_ fields: GestureFields, into writer: inout JSONWriter) {
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

struct OwnPreview: Sendable {
    let gesture: OwnGesture
    let fields: GestureFields
}

/// The gestures of this user in a room, by the app's names.
struct OwnGestures: Sendable {
    /// What others saw of a gesture is repeated this often while its fingers rest, ms.
    static let repetition: Int64 = 1000

    private(set) var lastNumber: Int64
    private var underWay: [(name: TextKey, gesture: OwnGesture)] = []

    /// No gestures, after those that an earlier run had.
    init(lastNumber: Int64 = 0) {
        self.lastNumber = lastNumber
    }

    var deadline: Int64? { self.underWay.compactMap(\.gesture.deadline).min() }

    /// Whether this user has fingers on an element.
    func isOn(_ id: TextKey) -> Bool {
        self.underWay.contains { $0.gesture.idSet.contains(id) }
    }

    /// Fingers touched elements. `pivot` is that of a group.
    mutating func begin(_ name: String, _ ids: [TextKey], pivot: @autoclosure () -> Point, at now: Int64) {
        self.lastNumber = self.lastNumber.plus(1)
        let gesture = OwnGesture(
            number: self.lastNumber, elementIds: ids, idSet: Set(ids), pivot: ids.count > 1 ? pivot() : nil,
            trail: FingerTrail(at: now))
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

    /// The preview of the latest movement, if it may be sent now: at most one in an interval, ms.
    mutating func offer(_ name: String, at now: Int64, interval: Int64) -> OwnPreview? {
        guard let index = self.index(of: name) else { return nil }
        let fields = self.underWay[index].gesture.fields
        self.underWay[index].gesture.throttle.interval = interval
        guard let due = self.underWay[index].gesture.throttle.offer(fields, at: now) else { return nil }
        return self.preview(index, due, now)
    }

    /// The previews that others must see now.
    mutating func due(at now: Int64, interval: Int64) -> [OwnPreview] {
        self.underWay.indices.compactMap { index in
            let gesture = self.underWay[index].gesture
            self.underWay[index].gesture.throttle.interval = interval
            if let due = self.underWay[index].gesture.throttle.due(at: now) { return self.preview(index, due, now) }
            guard let sentAt = gesture.sentAt, now >= sentAt.plus(Self.repetition) else { return nil }
            return self.preview(index, gesture.fields, now)
        }
    }

    mutating func lift(_ name: String) -> OwnGesture? {
        self.index(of: name).map { self.underWay.remove(at: $0).gesture }
    }

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

    private mutating func preview(_ index: Int, _ fields: GestureFields, _ now: Int64) -> OwnPreview {
        self.underWay[index].gesture.sentAt = now
        return OwnPreview(gesture: self.underWay[index].gesture, fields: fields)
    }
}

extension GestureFields {
    /// What of an element these parts set, but its position.
    fileprivate var heldFields: [ElementField] {
        (self.rotation == nil ? [] : [.rotation]) + (self.scale == nil ? [] : [.scaleX, .scaleY])
            + (self.tilt == nil ? [] : [.rotationX, .rotationY])
    }
}
