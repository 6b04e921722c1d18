public import Canvas
public import JSONBytes

/// `element:transform`: moves, rotates or scales an element. Absent fields stay unchanged; width and height are hints.
///
///     element name │ transform fields │ transform fields where a hand let go
public struct TransformElement: Edit {
    public static let traits = EditTraits(
        event: "element:transform", tag: 1, isGroup: false, gestures: .ends, motion: .fromHand)

    public var element: Identifier
    public var fields: TransformFields
    /// Where a hand let go, if the commit has a motion and is of several elements: then that motion names no start.
    public var from = ByField<Double>()

    public init(element: Identifier, fields: TransformFields) {
        self.element = element
        self.fields = fields
    }

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        try self.init(fields: payload)
    }

    /// Reads it from an object of a group.
    init(member payload: JSONValue) throws(Refusal) {
        try self.init(fields: payload)
        if let from = payload["from"] {
            do { self.from = try ByField(from, path: "from") } catch { throw Refusal(error) }
        }
    }

    private init(fields payload: JSONValue) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        self.fields = try PayloadField.transform(payload, isPreview: false)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.element = reader.name()
        self.fields = reader.transform()
        self.from = ByField(reader.transform())
        if self.fields.isEmpty, !reader.failed {
            throw Refusal(.invalid, "A transform needs a position or a transform field.", field: "transform")
        }
    }

    public func encode(into writer: inout ByteWriter) {
        writer.run(upTo: FieldRun.size(of: self.element) + 2 * TransformFields.maxBytes) { run in
            run.name(self.element)
            run.transform(self.fields)
            run.transform(TransformFields(self.from))
        }
    }
}

/// `elements:transform`: moves, rotates or scales a group of elements, all or none.
///
///     list of (element name │ transform fields)
public struct TransformElements: Edit {
    public static let traits = EditTraits(
        event: "elements:transform", tag: 6, isGroup: true, gestures: .ends, motion: .fromWhatShows)

    /// The elements with the fields to set of each, in the app's order; no element twice.
    public var items: [TransformElement]

    public init(_ items: [TransformElement]) {
        self.items = items
    }

    public var elements: ShortList<Identifier> { ShortList(self.items.lazy.map(\.element)) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.items = try PayloadField.group(payload, limit: reading.largestGroup) { value throws(Refusal) in
            try TransformElement(member: value)
        }
        try PayloadField.checkUnique(self.elements, member: ".elementId")
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.items = try reader.group { reader throws(Refusal) in try TransformElement(from: &reader) }
    }

    public func encode(into writer: inout ByteWriter) {
        writer.list(self.items) { item, writer in item.encode(into: &writer) }
    }
}
