public import Canvas
public import JSONBytes

/// `element:gesture`: moves, rotates or scales an element by what fingers did since they touched it, on top of its
/// stored state.
///
///     element name │ gesture
public struct GestureElement: Edit {
    public static let event = "element:gesture"
    public static let tag: UInt8 = 8
    public static let rateCost = 1
    public static let isGroup = false
    public static let gestures = GestureEffect.ends
    public static let motion = MotionUse.fromHand

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

    public func identify(into hash: inout BodyHash) {
        hash.text(self.element.text)
        hash.gesture(self.gesture)
    }
}
