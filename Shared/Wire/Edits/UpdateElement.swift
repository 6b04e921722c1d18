public import Canvas
public import JSONBytes

/// `element:update`: changes everything but position, scale, rotation and anchor.
///
///     element name │ JSON blob, the app's `set`
public struct UpdateElement: Edit {
    public static let traits = EditTraits(
        event: "element:update", tag: 4, isGroup: false, gestures: .leavesOpen, motion: .ignored)

    public var element: Identifier
    /// The fields to set and to remove.
    public var changes: ElementChanges
    private let json: [UInt8]

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        guard let set = payload["set"], set.kind == .object else {
            throw Refusal(.invalid, "set is an object.", field: "set")
        }
        do { self.changes = try ElementChanges(set) } catch { throw Refusal(error) }
        self.json = Array(set.rawBytes)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.element = reader.name()
        self.json = reader.blob()
        self.changes = try PayloadField.parse(self.json, field: "set") { value throws(FieldError) in
            try ElementChanges(value)
        }
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.element)
        writer.blob(self.json)
    }

    public func identify(into hash: inout BodyHash) {
        hash.text(self.element.text)
        hash.changes(self.changes)
    }
}
