public import JSONBytes

/// `element:delete`: deletes an element and its descendants.
///
///     element name
public struct DeleteElement: Edit {
    public static let event = "element:delete"
    public static let tag: UInt8 = 5
    public static let rateCost = 1
    public static let isGroup = false
    public static let gestures = GestureEffect.leavesOpen
    public static let motion = MotionUse.ignored

    public var element: Identifier

    public init(element: Identifier) {
        self.element = element
    }

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.element = reader.name()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.element)
    }

    public func identify(into hash: inout BodyHash) {
        hash.text(self.element.text)
    }
}
