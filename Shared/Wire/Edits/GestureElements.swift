public import Canvas
public import JSONBytes

/// `elements:gesture`: moves, rotates or scales a group of elements about a common pivot, on top of their stored state,
/// all or none.
///
///     list of element names │ pivot 2 × f64 │ gesture
public struct GestureElements: Edit {
    public static let event = "elements:gesture"
    public static let tag: UInt8 = 9
    public static let rateCost = 1
    public static let isGroup = true
    public static let gestures = GestureEffect.ends
    public static let motion = MotionUse.fromWhatShows

    /// The elements, in the app's order; none twice.
    public var ids: [Identifier]
    /// The point of the canvas about which the group rotates and scales, pixels.
    public var pivot: Point
    /// The movement; it has no anchor.
    public var gesture: Gesture

    public init(_ ids: [Identifier], pivot: Point, gesture: Gesture) {
        self.ids = ids
        self.pivot = pivot
        self.gesture = gesture
    }

    public var elements: ShortList<Identifier> { ShortList(self.ids) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.ids = try PayloadField.ids(payload, "elements", limit: reading.largestGroup)
        let (pivot, fields) = try PayloadField.groupGesture(payload)
        (self.pivot, self.gesture) = (pivot, fields.gesture)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.ids = reader.list { $0.name() }
        self.pivot = reader.point()
        self.gesture = reader.gesture()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.list(self.ids) { id, writer in writer.name(id) }
        writer.point(self.pivot)
        writer.gesture(self.gesture)
    }

    public func identify(into hash: inout BodyHash) {
        hash.integer(UInt64(truncatingIfNeeded: self.ids.count))
        for id in self.ids { hash.text(id.text) }
        hash.point(self.pivot)
        hash.gesture(self.gesture)
    }
}
