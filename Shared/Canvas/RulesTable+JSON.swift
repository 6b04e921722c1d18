public import JSONBytes

extension RulesTable: JSONEncodable {
    /// Parses the rules file: an object with a member per type, `"*"` for all other types. A missing type keeps its
    /// built-in rules, and so does every missing rule of a type (a new type starts from `"*"`). Unknown rules are
    /// errors, so that a typing mistake does not silently keep a default.
    public init(json: JSONValue) throws(FieldError) {
        guard json.kind == .object else { throw FieldError(field: "", message: "The rules are an object.") }
        try self.init(json) { (mistake) throws(FieldError) in throw mistake }
    }

    /// The table of a server, which may be newer: what is unknown or has a wrong value counts as missing.
    public init(lenient json: JSONValue) {
        self.init(json) { _ in }
    }

    private init<Refusal>(
        _ json: JSONValue, mistake: (FieldError) throws(Refusal) -> Void
    ) throws(Refusal) {
        self = .defaults
        if let other = json["*"] { try self.other.read(other, "*", mistake: mistake) }
        for (key, value) in json.members where !key.isString("*" as StaticString) {
            guard let name = key.string, name.utf8.count <= CanvasLimits.typeBytes else {
                try mistake(FieldError(field: key.string ?? "", message: "A type has at most 32 bytes."))
                continue
            }
            try self.entries[self.index(of: Array(name.utf8))].rules.read(value, name, mistake: mistake)
        }
    }

    /// The entry of a type: a new one has the rules of all other types.
    private mutating func index(of name: [UInt8]) -> Int {
        if let index = self.entries.firstIndex(where: { $0.name == name }) { return index }
        self.entries.append(Entry(name: name, rules: self.other))
        return self.entries.count - 1
    }

    /// Writes the complete table in the form that `init(json:)` parses. The types are sorted by name, so that tables with
    /// the same rules have the same text.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        for entry in self.entries.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
            writer.key(string: String(decoding: entry.name, as: UTF8.self))
            entry.rules.encode(into: &writer)
        }
        writer.key("*")
        self.other.encode(into: &writer)
        writer.endObject()
    }
}

extension TypeRules {
    /// Sets the rules that an object has. One with a mistake stays as it is, if that is not thrown.
    fileprivate mutating func read<Refusal>(
        _ json: JSONValue, _ path: String, mistake: (FieldError) throws(Refusal) -> Void
    ) throws(Refusal) {
        guard json.kind == .object else {
            return try mistake(FieldError(field: path, message: "Rules are an object."))
        }
        let scales = (self.minScale, self.maxScale)
        for (key, value) in json.members {
            let name = key.string ?? ""
            do { try self.set(name, value, joined(path, name)) } catch { try mistake(error) }
        }
        if self.minScale > self.maxScale {
            (self.minScale, self.maxScale) = scales
            try mistake(FieldError(field: joined(path, "maxScale"), message: "maxScale is below minScale."))
        }
    }

    private mutating func set(_ name: String, _ value: JSONValue, _ field: String) throws(FieldError) {
        switch name {
        case "minScale": self.minScale = try Self.scale(value, field)
        case "maxScale": self.maxScale = try Self.scale(value, field)
        case "lockedAspect": self.lockedAspect = try ElementInput.bool(value, field)
        case "rotates": self.rotates = try ElementInput.bool(value, field)
        case "depth": self.depth = try ElementInput.bool(value, field)
        case "minWidth": self.minWidth = try Self.side(value, field)
        case "minHeight": self.minHeight = try Self.side(value, field)
        case "minSide": self.minSide = try Self.side(value, field)
        case "fontSize": self.fontSize = try Self.fontSize(value, field)
        default: throw FieldError(field: field, message: "There is no such rule.")
        }
    }

    /// Scales and sides are limited so that no product of stored values overflows a double.
    private static func scale(_ value: JSONValue, _ field: String) throws(FieldError) -> Double {
        let scale = try ElementInput.positive(value, field)
        guard (1e-6...1e6).contains(scale) else {
            throw FieldError(field: field, message: "A scale lies in 0.000001…1000000.")
        }
        return scale
    }

    private static func side(_ value: JSONValue, _ field: String) throws(FieldError) -> Double {
        let side = try ElementInput.requiredNumber(value, field)
        guard (0...1e6).contains(side) else {
            throw FieldError(field: field, message: "A side lies in 0…1000000 pixels.")
        }
        return side
    }

    private static func fontSize(_ value: JSONValue, _ field: String) throws(FieldError) -> ClosedRange<Double>? {
        if value.isNull { return nil }
        guard value.kind == .object else { throw FieldError(field: field, message: "{min, max} or null is required.") }
        let low = try ElementInput.requiredNumber(value["min"], joined(field, "min"))
        let high = try ElementInput.requiredNumber(value["max"], joined(field, "max"))
        guard low > 0, low <= high else {
            throw FieldError(field: field, message: "0 < min ≤ max is required.")
        }
        return low...high
    }
}

extension TypeRules {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("minScale", self.minScale)
        writer.member("maxScale", self.maxScale)
        writer.member("lockedAspect", self.lockedAspect)
        writer.member("rotates", self.rotates)
        writer.member("depth", self.depth)
        writer.member("minWidth", self.minWidth)
        writer.member("minHeight", self.minHeight)
        writer.member("minSide", self.minSide)
        writer.key("fontSize")
        if let range = self.fontSize {
            writer.beginObject()
            writer.member("min", range.lowerBound)
            writer.member("max", range.upperBound)
            writer.endObject()
        } else {
            writer.null()
        }
        writer.endObject()
    }
}
