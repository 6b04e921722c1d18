public import Canvas
public import JSONBytes

/// Which fields of an element stop, and when they were seen where they stop.
///
///     mask of the fields u16 │ whether there is a time u8 │ time f64
public struct Halt: Equatable, Sendable {
    /// The fields that stop; nil: all that move.
    public var fields: [ElementField]?
    /// ms since 1970 by the server's clock; nil: when it is decided.
    public var time: Double?

    fileprivate init(_ payload: JSONValue) throws(Refusal) {
        if let value = payload["fields"] { self.fields = try Self.fields(value) }
        if let value = payload["at"] {
            guard let time = value.double else {
                throw Refusal(.invalid, "The server's time in ms since 1970 is required.", field: "at")
            }
            self.time = time
        }
    }

    private static func fields(_ value: JSONValue) throws(Refusal) -> [ElementField] {
        guard value.kind == .array, value.count > 0 else {
            throw Refusal(.invalid, "fields is an array of at least one name.", field: "fields")
        }
        var fields: Set<ElementField> = []
        for (index, name) in value.elements.enumerated() {
            guard name.kind == .string, let field = ElementField.named(name, after: nil), field.isAnimated else {
                throw Refusal(.invalid, "There is no field of this name that moves.", field: "fields[\(index)]")
            }
            fields.insert(field)
        }
        return ElementField.animated.filter(fields.contains)
    }

    fileprivate init(from reader: inout ByteReader) {
        let mask = reader.integer(UInt16.self)
        if mask != 0 { self.fields = ElementField.animated.filter { mask & 1 << $0.slot != 0 } }
        if reader.bool() { self.time = reader.finite() }
    }

    fileprivate func encode(into writer: inout ByteWriter) {
        writer.integer(self.mask)
        writer.bool(self.time != nil)
        if let time { writer.double(time) }
    }

    /// Bit i: the i-th field of a transform stops; 0: all.
    private var mask: UInt16 { (self.fields ?? []).reduce(0) { $0 | 1 << $1.slot } }
}

/// `element:halt`: stops an element where it is seen.
///
///     element name │ halt
public struct HaltElement: Edit {
    public static let traits = EditTraits(
        event: "element:halt", tag: 15, isGroup: false, gestures: .leavesOpen, motion: .ignored)

    public var element: Identifier
    public var halt: Halt

    public var elements: ShortList<Identifier> { ShortList(self.element) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.element = try PayloadField.elementID(payload)
        self.halt = try Halt(payload)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.element = reader.name()
        self.halt = Halt(from: &reader)
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.element)
        self.halt.encode(into: &writer)
    }
}

/// `elements:halt`: stops a group of elements where they are seen, all or none.
///
///     list of element names │ halt
public struct HaltElements: Edit {
    public static let traits = EditTraits(
        event: "elements:halt", tag: 16, isGroup: true, gestures: .leavesOpen, motion: .ignored)

    /// The elements, in the app's order; none twice.
    public var ids: [Identifier]
    public var halt: Halt

    public var elements: ShortList<Identifier> { ShortList(self.ids) }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        self.ids = try PayloadField.ids(payload, "elements", limit: reading.largestGroup)
        self.halt = try Halt(payload)
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        self.ids = reader.list { $0.name() }
        self.halt = Halt(from: &reader)
    }

    public func encode(into writer: inout ByteWriter) {
        writer.list(self.ids) { id, writer in writer.name(id) }
        self.halt.encode(into: &writer)
    }
}
