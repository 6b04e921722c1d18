public import JSONBytes

/// `elements:create`: creates several elements, all or none.
///
///     list of new elements
public struct CreateElements: Edit {
    public static let event = "elements:create"
    public static let tag: UInt8 = 3
    public static let gestures = GestureEffect.leavesOpen

    /// The elements, in the app's order.
    public var items: [NewItem]

    /// Creates elements.
    public init(_ items: [NewItem]) {
        self.items = items
    }

    public var elements: ShortList<Identifier> { [] }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        let group = try PayloadField.group(payload["elements"], limit: reading.largestGroup)
        self.items = []
        var ids: Set<Identifier> = []
        for (index, element) in group.elements.enumerated() {
            let item = try NewItem(element, path: "elements[\(index)]", reading: &reading)
            guard ids.insert(item.id).inserted else {
                throw Refusal(.invalid, "The id is given twice.", field: "elements[\(index)].id")
            }
            self.items.append(item)
        }
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        var items: [NewItem] = []
        var fault: Refusal?
        _ = reader.list { reader in
            do throws(Refusal) {
                items.append(try NewItem(from: &reader, path: "elements[\(items.count)]"))
            } catch {
                fault = fault ?? error
            }
        }
        if let fault { throw fault }
        self.items = items
    }

    public func encode(into writer: inout ByteWriter) {
        writer.list(self.items) { item, writer in item.encode(into: &writer) }
    }

    public func identify(into hash: inout BodyHash) {
        hash.integer(UInt64(truncatingIfNeeded: self.items.count))
        for item in self.items { item.identify(into: &hash) }
    }
}
