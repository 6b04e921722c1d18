public import JSONBytes

/// `elements:transform`: moves, rotates or scales a group of elements, all or none.
///
///     list of (element name │ transform fields)
public struct TransformElements: Edit {
    public static let event = "elements:transform"
    public static let tag: UInt8 = 6
    public static let rateCost = 1
    public static let isGroup = true
    public static let gestures = GestureEffect.ends
    public static let motion = MotionUse.fromWhatShows

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

    public func identify(into hash: inout BodyHash) {
        hash.integer(UInt64(truncatingIfNeeded: self.items.count))
        for item in self.items { item.identify(into: &hash) }
    }
}
