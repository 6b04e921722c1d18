public import JSONBytes

/// The parts of a gesture while fingers are down: deltas since it began. A part that is absent is as it was before, or has
/// not moved yet.
public struct GestureFields: Equatable, Sendable {
    /// Pixels on the canvas (fractions of the parent for an annotation).
    public var translation: Point?
    /// Factors in the element's own axes; about a pivot in those of the canvas.
    public var scale: Point?
    /// Clockwise degrees; may exceed a full turn.
    public var rotation: Double?
    /// Degrees about the x axis and the y axis.
    public var tilt: Point?
    /// The anchor to use from now on.
    public var anchor: Point?

    public init() {}

    /// True when every part is absent.
    public var isEmpty: Bool {
        self.translation == nil && self.scale == nil && self.rotation == nil && self.tilt == nil && self.anchor == nil
    }

    /// Replaces the parts that a newer message of the same gesture has.
    public mutating func merge(_ newer: GestureFields) {
        self.translation = newer.translation ?? self.translation
        self.scale = newer.scale ?? self.scale
        self.rotation = newer.rotation ?? self.rotation
        self.tilt = newer.tilt ?? self.tilt
        self.anchor = newer.anchor ?? self.anchor
    }

    /// The whole movement: what is absent has not moved.
    public var gesture: Gesture {
        var gesture = Gesture()
        gesture.translation = self.translation ?? .zero
        gesture.scaleX = self.scale?.x ?? 1
        gesture.scaleY = self.scale?.y ?? 1
        gesture.rotation = self.rotation ?? 0
        gesture.tilt = self.tilt ?? .zero
        gesture.anchor = self.anchor
        return gesture
    }
}

extension GestureFields {
    /// Reads the deltas of a gesture: `translation {x, y}`, `scale` (a number, or `{x, y}`), `rotation`, `tilt {x, y}`,
    /// `anchor {x, y}`, at least one of them.
    public init(_ payload: JSONValue) throws(FieldError) {
        self.init()
        if let value = payload["translation"] { self.translation = try ElementInput.point(value, "translation") }
        if let value = payload["scale"] {
            if let factor = value.double {
                self.scale = Point(x: factor, y: factor)
            } else {
                self.scale = try ElementInput.point(value, "scale")
            }
        }
        self.rotation = try ElementInput.number(payload["rotation"], "rotation")
        if let value = payload["tilt"] { self.tilt = try ElementInput.point(value, "tilt") }
        if let value = payload["anchor"] { self.anchor = try ElementInput.point(value, "anchor") }
        if self.isEmpty { throw FieldError(field: "translation", message: "A part of a gesture is required.") }
    }

    /// The common pivot of a group's gesture.
    public static func pivot(_ payload: JSONValue) throws(FieldError) -> Point {
        guard let value = payload["pivot"] else { throw FieldError(field: "pivot", message: "A pivot is required.") }
        return try ElementInput.point(value, "pivot")
    }
}
