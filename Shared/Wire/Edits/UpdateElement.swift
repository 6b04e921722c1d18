public import Canvas
public import JSONBytes

/// `element:update`: changes everything but position, scale, rotation and anchor.
///
///     element name │ JSON blob, the app's `set`
public struct UpdateElement: Edit {
    public static let event = "element:update"
    public static let tag: UInt8 = 4
    public static let rateCost = 1
    public static let isGroup = false
    public static let gestures = GestureEffect.leavesOpen
    public static let motion = MotionUse.ignored

    public var element: Identifier
    /// The fields to set and to remove.
    public var changes: ElementChanges
    private let json: [UInt8]

    /// Reads the changes from a JSON object.
    /// - Throws: a refusal that names the field at fault.
    public init(element: Identifier, json: [UInt8]) throws(Refusal) {
        self.element = element
        self.json = json
        self.changes = try PayloadField.parse(json, field: "set") { value throws(FieldError) in
            try ElementInput.changes(value)
        }
    }

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        guard let set = payload["set"], set.kind == .object else {
            throw Refusal(.invalid, "set is an object.", field: "set")
        }
        do { self.changes = try ElementInput.changes(set) } catch { throw Refusal(error) }
        self.json = Array(set.rawBytes)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        let element = reader.name()
        try self.init(element: element, json: reader.blob())
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
