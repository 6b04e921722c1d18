public import JSONBytes

/// `element:delete`: deletes an element and its descendants.
///
///     element name
public struct DeleteElement: Edit {
    public static let traits = EditTraits(
        event: "element:delete", tag: 5, isGroup: false, gestures: .leavesOpen, motion: .ignored)

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
}

/// `elements:delete`: deletes a group of elements and their descendants, all or none.
///
///     list of element names
public struct DeleteElements: Edit {
    public static let traits = EditTraits(
        event: "elements:delete", tag: 7, isGroup: true, gestures: .leavesOpen, motion: .ignored)

    /// The elements, in the app's order; none twice.
    public var ids: [Identifier]

    public init(_ ids: [Identifier]) {
        self.ids = ids
    }

    public var elements: ShortList<Identifier> { ShortList(self.ids) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.ids = try PayloadField.ids(payload, "elementIds", limit: reading.largestGroup)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.ids = reader.list { $0.name() }
    }

    public func encode(into writer: inout ByteWriter) {
        writer.list(self.ids) { id, writer in writer.name(id) }
    }
}
