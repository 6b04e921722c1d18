public import JSONBytes

/// `elements:delete`: deletes a group of elements and their descendants, all or none.
///
///     list of element names
public struct DeleteElements: Edit {
    public static let event = "elements:delete"
    public static let tag: UInt8 = 7
    public static let rateCost = 1
    public static let isGroup = true
    public static let gestures = GestureEffect.leavesOpen
    public static let motion = MotionUse.ignored

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

    public func identify(into hash: inout BodyHash) {
        hash.integer(UInt64(truncatingIfNeeded: self.ids.count))
        for id in self.ids { hash.text(id.text) }
    }
}
