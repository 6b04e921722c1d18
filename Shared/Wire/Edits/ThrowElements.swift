public import Canvas
public import JSONBytes

/// `element:throw`: lets go of an element in motion. It ends the gesture.
///
///     element name │ transform fields │ JSON blob
public struct ThrowElement: Edit {
    public static let traits = EditTraits(
        event: "element:throw", tag: 17, isGroup: false, gestures: .ends, motion: .ignored)

    /// The element, and where the hand let go of it.
    public var item: ThrownItem
    public var request: Throw

    public var elements: ShortList<Identifier> { ShortList(self.item.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.item = try ThrownItem(payload)
        self.request = try PayloadField.throwing(payload, isGroup: false)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.item = ThrownItem(from: &reader)
        self.request = try PayloadField.throwing(reader.blob(), isGroup: false)
    }

    public func encode(into writer: inout ByteWriter) {
        self.item.encode(into: &writer)
        writer.blob(self.request.jsonText)
    }
}

/// `elements:throw`: lets go of a group of elements in motion, with one way, all or none. It ends their gestures.
///
///     list of (element name │ transform fields) │ JSON blob
public struct ThrowElements: Edit {
    public static let traits = EditTraits(
        event: "elements:throw", tag: 18, isGroup: true, gestures: .ends, motion: .ignored)

    /// The elements, and where the hand let go of each, in the app's order; no element twice.
    public var items: [ThrownItem]
    public var request: Throw

    public var elements: ShortList<Identifier> { ShortList(self.items.lazy.map(\.element)) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.items = try PayloadField.group(payload, limit: reading.largestGroup) { value throws(Refusal) in
            try ThrownItem(value)
        }
        self.request = try PayloadField.throwing(payload, isGroup: true)
        try PayloadField.checkUnique(self.elements, member: ".elementId")
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.items = reader.list { ThrownItem(from: &$0) }
        self.request = try PayloadField.throwing(reader.blob(), isGroup: true)
    }

    public func encode(into writer: inout ByteWriter) {
        writer.list(self.items) { item, writer in item.encode(into: &writer) }
        writer.blob(self.request.jsonText)
    }
}

/// An element that is thrown, and where the hand let go of it: fields that it does not name start from what shows.
public struct ThrownItem: Equatable, Sendable {
    public var element: Identifier
    public var fields: TransformFields

    fileprivate init(_ payload: JSONValue) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        do { self.fields = try TransformFields(mayBeEmpty: payload, isPreview: true) } catch { throw Refusal(error) }
    }

    fileprivate init(from reader: inout ByteReader) {
        self.element = reader.name()
        self.fields = reader.transform()
    }

    fileprivate func encode(into writer: inout ByteWriter) {
        writer.run(upTo: FieldRun.size(of: self.element) + TransformFields.maxBytes) { run in
            run.name(self.element)
            run.transform(self.fields)
        }
    }
}

extension PayloadField {
    fileprivate static func throwing(_ payload: JSONValue, isGroup: Bool) throws(Refusal) -> Throw {
        do { return try Throw(payload, isGroup: isGroup) } catch { throw Refusal(error) }
    }

    fileprivate static func throwing(_ text: [UInt8], isGroup: Bool) throws(Refusal) -> Throw {
        try Self.parse(text, field: "velocity") { value throws(FieldError) in
            try Throw(value, isGroup: isGroup)
        }
    }
}
