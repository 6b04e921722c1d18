package import JSONBytes

/// A field of an element that only the app understands, kept unchanged.
public struct ExtraField: Sendable {
    /// Its name, unescaped.
    public var name: String
    /// Its value's JSON text.
    public var json: [UInt8]

    /// A field from its name and its value's text, which must be one valid JSON value.
    public init(name: String, json: [UInt8]) {
        self.name = name
        self.json = json
    }

    /// In an update: takes the field of that name off the element.
    public static func removal(of name: String) -> ExtraField { ExtraField(name: name, json: Self.null) }

    /// In an update: whether it takes the field off the element.
    var isRemoval: Bool { self.json == Self.null }

    private static let null = Array("null".utf8)

    /// Its size towards the limit, bytes: the value's text and the name as it is stored, in JSON. An escaped control
    /// character counts six bytes.
    var byteCount: Int {
        self.name.utf8.reduce(self.json.count) { size, byte in
            switch byte {
            case 0..<0x20: size + 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): size + 2
            default: size + 1
            }
        }
    }
}

extension ExtraField: Equatable {
    /// Bytewise: names that are canonically equivalent in Unicode are different names.
    public static func == (left: ExtraField, right: ExtraField) -> Bool {
        isSameText(left.name, right.name) && left.json == right.json
    }
}

/// The app's own fields of an element: each name is there once.
extension [ExtraField] {
    /// Writes them as members of the open object.
    package func encodeMembers(into writer: inout JSONWriter) {
        for field in self {
            writer.key(string: field.name)
            writer.raw(field.json)
        }
    }

    /// Whether an element may have them: their number, and their size with their names.
    var isWithinLimits: Bool { self.excess == nil }

    /// Rejects fields that an element may not have as too large, with the limit that they are over.
    func checkLimits(field: String) throws(FieldError) {
        if let excess = self.excess { throw FieldError(field: field, message: excess, tooLarge: true) }
    }

    private var excess: String? {
        if self.count > CanvasLimits.extraFields {
            return "An element has at most \(CanvasLimits.extraFields) own fields."
        }
        let bytes = self.reduce(0) { $0 + $1.byteCount }
        return bytes > CanvasLimits.extraBytes
            ? "An element's own fields have at most \(CanvasLimits.extraBytes) bytes." : nil
    }

    func value(of name: String) -> [UInt8]? { self.first { isSameText($0.name, name) }?.json }

    /// Replaces a field's value, appends the field if it is new, or removes it if the value is nil.
    mutating func set(_ name: String, to json: [UInt8]?) {
        let index = self.firstIndex { isSameText($0.name, name) }
        switch (index, json) {
        case (let index?, let json?): self[index].json = json
        case (nil, let json?): self.append(ExtraField(name: name, json: json))
        case (let index?, nil): self.remove(at: index)
        case (nil, nil): break
        }
    }

    /// These fields after an update. Values are replaced whole.
    func updated(by fields: [ExtraField]) -> [ExtraField] {
        var merged = self
        for field in fields { merged.set(field.name, to: field.isRemoval ? nil : field.json) }
        return merged
    }
}

/// `isSameText` for strings that may be absent.
func isSameText(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return isSameText(left, right)
}
