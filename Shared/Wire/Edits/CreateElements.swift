public import JSONBytes

/// `element:create`: creates one element.
///
///     one new element
public struct CreateElement: Edit {
    public static let traits = EditTraits(
        event: "element:create", tag: 2, isGroup: false, gestures: .leavesOpen, motion: .ignored)

    public var item: NewItem

    public var elements: ShortList<Identifier> { [] }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        guard let element = payload["element"] else {
            throw Refusal(.invalid, "An element is an object.", field: "element")
        }
        try self.init(element: element, reading: &reading)
    }

    /// Reads it from the element itself, which is the body of an HTTP request.
    /// - Throws: a refusal that names the field at fault.
    public init(element: JSONValue, reading: inout EditReading) throws(Refusal) {
        do throws(Refusal) {
            self.item = try NewItem(element, reading: &reading)
        } catch {
            throw error.within("element")
        }
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        do throws(Refusal) {
            self.item = try NewItem(from: &reader)
        } catch {
            throw error.within("element")
        }
    }

    public func encode(into writer: inout ByteWriter) {
        self.item.encode(into: &writer)
    }

    public func identify(into hash: inout BodyHash) {
        self.item.identify(into: &hash)
    }
}

/// `elements:create`: creates several elements, all or none.
///
///     list of new elements
public struct CreateElements: Edit {
    public static let traits = EditTraits(
        event: "elements:create", tag: 3, isGroup: true, gestures: .leavesOpen, motion: .ignored)

    /// The elements, in the app's order.
    public var items: [NewItem]

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
