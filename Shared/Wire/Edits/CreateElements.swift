public import JSONBytes

/// `elements:create`: creates several elements, all or none.
///
///     list of new elements
public struct CreateElements: Edit {
    public static let event = "elements:create"
    public static let tag: UInt8 = 3
    public static let rateCost = 1
    public static let isGroup = true
    public static let gestures = GestureEffect.leavesOpen
    public static let motion = MotionUse.ignored

    /// The elements, in the app's order.
    public var items: [NewItem]

    public init(_ items: [NewItem]) {
        self.items = items
    }

    public var elements: ShortList<Identifier> { [] }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.items = try PayloadField.group(payload, limit: reading.largestGroup) { value throws(Refusal) in
            try NewItem(value, reading: &reading)
        }
        try PayloadField.checkUnique(self.items.lazy.map(\.id), member: ".id")
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.items = try reader.group { reader throws(Refusal) in try NewItem(from: &reader) }
    }

    public func encode(into writer: inout ByteWriter) {
        writer.list(self.items) { item, writer in item.encode(into: &writer) }
    }

    public func identify(into hash: inout BodyHash) {
        hash.integer(UInt64(truncatingIfNeeded: self.items.count))
        for item in self.items { item.identify(into: &hash) }
    }
}
