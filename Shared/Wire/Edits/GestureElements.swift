public import Canvas
public import JSONBytes

/// `element:gesture`: moves, rotates or scales an element by what fingers did since they touched it, on top of its
/// stored state.
///
///     element name │ gesture
public struct GestureElement: Edit {
    public static let traits = EditTraits(
        event: "element:gesture", tag: 8, isGroup: false, gestures: .ends, motion: .fromHand)

    public var element: Identifier
    public var gesture: Gesture

    public init(element: Identifier, gesture: Gesture) {
        self.element = element
        self.gesture = gesture
    }

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        self.gesture = try PayloadField.gestureFields(payload).gesture
        if self.gesture.anchor != nil, payload["motion"] != nil {
            throw Refusal(.invalid, "A gesture that moves the anchor has no motion.", field: "motion")
        }
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.element = reader.name()
        self.gesture = reader.gesture()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.element)
        writer.gesture(self.gesture)
    }
}

/// `elements:gesture`: moves, rotates or scales a group of elements about a common pivot, on top of their stored state,
/// all or none.
///
///     list of element names │ pivot 2 × f64 │ gesture
public struct GestureElements: Edit {
    public static let traits = EditTraits(
        event: "elements:gesture", tag: 9, isGroup: true, gestures: .ends, motion: .fromWhatShows)

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
}
