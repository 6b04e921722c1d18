public import Canvas
public import JSONBytes

/// `element:transform`: moves, rotates or scales an element. Absent fields stay unchanged; width and height are hints.
///
///     element name │ transform fields
public struct TransformElement: Edit {
    public static let event = "element:transform"
    public static let tag: UInt8 = 1
    public static let rateCost = 1
    public static let isGroup = false
    public static let gestures = GestureEffect.ends

    public var element: Identifier
    /// The fields to set.
    public var fields: TransformFields

    /// Sets these fields of an element.
    public init(element: Identifier, fields: TransformFields) {
        self.element = element
        self.fields = fields
    }

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        try self.init(fields: payload)
    }

    /// Reads it from an object, alone or in a group.
    init(fields payload: JSONValue) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        self.fields = try PayloadField.transform(payload, isPreview: false)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.element = reader.name()
        self.fields = reader.transform()
        if self.fields.isEmpty, !reader.failed {
            throw Refusal(.invalid, "A transform needs a position or a transform field.", field: "transform")
        }
    }

    public func encode(into writer: inout ByteWriter) {
        writer.run(upTo: FieldRun.size(of: self.element) + TransformFields.maxBytes) { run in
            run.name(self.element)
            run.transform(self.fields)
        }
    }

    public func identify(into hash: inout BodyHash) {
        hash.text(self.element.text)
        hash.transform(self.fields)
    }
}
