package import JSONBytes

/// Values of some fields of an element, in the order of the table of fields. Empty it needs no memory of its own.
public struct ByField<Value: Equatable & Sendable>: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public let field: ElementField
        public var value: Value
    }

    public private(set) var entries: [Entry] = []

    public init() {}

    public var isEmpty: Bool { self.entries.isEmpty }

    /// Those that have a value.
    public var fields: [ElementField] { self.entries.map(\.field) }

    /// Replaces the values that others have too, and adds the rest.
    public mutating func merge(_ others: ByField) {
        for entry in others.entries { self[entry.field] = entry.value }
    }

    public subscript(field: ElementField) -> Value? {
        get { self.entries.first { $0.field == field }?.value }
        set {
            let index = self.entries.firstIndex { $0.field.rawValue >= field.rawValue } ?? self.entries.endIndex
            let isThere = index < self.entries.endIndex && self.entries[index].field == field
            if let newValue {
                self.entries.replaceSubrange(
                    index..<(isThere ? index + 1 : index), with: CollectionOfOne(Entry(field: field, value: newValue)))
            } else if isThere {
                self.entries.remove(at: index)
            }
        }
    }
}

extension ByField {
    /// Reads each member of an object whose names are those of fields that move, with the member's path.
    init(
        _ object: JSONValue, _ path: String, _ read: (JSONValue, String) throws(FieldError) -> Value
    ) throws(FieldError) {
        self.init()
        var previous: ElementField?
        for (key, value) in object.members {
            let path = joined(path, key.string ?? "")
            guard let field = ElementField.named(key, after: previous), field.isAnimated else {
                throw FieldError(field: path, message: "There is no field of this name that moves.")
            }
            previous = field
            self[field] = try read(value, path)
        }
    }
}

extension ByField<Double> {
    /// Reads numbers of fields that move: the `from` of a motion, and the velocities of a spring.
    package init(_ value: JSONValue, path: String) throws(FieldError) {
        guard value.kind == .object else {
            throw FieldError(field: path, message: "An object with numbers of fields is required.")
        }
        try self.init(value, path, ElementInput.requiredNumber)
    }

    /// The fields of a transform.
    package init(_ fields: TransformFields) {
        self.init()
        for (field, value) in fields.set { self[field] = value }
    }
}

extension TransformFields {
    /// Values of fields that a transform can have.
    package init(_ values: ByField<Double>) {
        self.init()
        for entry in values.entries { self[entry.field] = entry.value }
    }
}
