public import JSONBytes

extension Element: JSONEncodable {
    /// Writes the flat object. Optional fields are written only if they are set.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        self.encodeMembers(into: &writer)
        writer.endObject()
    }

    /// Writes the flat object's members into an open object, to which a broadcast appends its own.
    public func encodeMembers(into writer: inout JSONWriter) {
        for field in ElementField.stored { field.encode(of: self, into: &writer) }
        self.extra.encodeMembers(into: &writer)
    }

    /// Parses the output of `encode`: its exact inverse, for our own stored text (see `JSONLimits.element`). Nil for any other
    /// text. Rules are not applied; payloads from apps are read by `NewElement`.
    public init?(json: JSONValue) {
        guard json.kind == .object else { return nil }
        self.init(id: "", type: "", createdBy: "")
        var found: UInt64 = 0
        var previous: ElementField?
        for (key, value) in json.members {
            guard let field = ElementField.named(key, after: previous) else {
                guard let name = key.string else { return nil }
                self.extra.append(ExtraField(name: name, json: Array(value.rawBytes)))
                continue
            }
            previous = field
            guard field.read(value, into: &self) else { return nil }
            found |= 1 << UInt64(field.rawValue)
        }
        let required = ElementField.alwaysWritten
        guard found & required == required else { return nil }
    }
}

extension JSONLimits {
    /// Limits under which everything that an element writes can be parsed: it has the fields of the table, a broadcast adds a
    /// few, and the app may have 64.
    public static let element: JSONLimits = {
        var limits = JSONLimits()
        limits.keysPerObject = 128
        limits.keyLength = .max
        return limits
    }()
}

extension Bounds: JSONEncodable {
    /// Writes `{x, y, width, height}`.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("x", self.x)
        writer.member("y", self.y)
        writer.member("width", self.width)
        writer.member("height", self.height)
        writer.endObject()
    }
}

extension Bounds {
    init?(json: JSONValue) {
        guard let x = json["x"]?.double, let y = json["y"]?.double, let width = json["width"]?.double,
            let height = json["height"]?.double
        else { return nil }
        self.init(x: x, y: y, width: width, height: height)
    }

    /// Reads `{x, y, width, height}` with an extent of 0 or more, as an app sends it.
    init(_ value: JSONValue, _ field: String) throws(FieldError) {
        guard value.kind == .object else {
            throw FieldError(field: field, message: "An object {x, y, width, height} is required.")
        }
        self.init(
            x: try ElementInput.requiredNumber(value["x"], joined(field, "x")),
            y: try ElementInput.requiredNumber(value["y"], joined(field, "y")),
            width: try ElementInput.requiredNumber(value["width"], joined(field, "width")),
            height: try ElementInput.requiredNumber(value["height"], joined(field, "height")))
        guard self.width >= 0 else {
            throw FieldError(field: joined(field, "width"), message: "A width of 0 or more is required.")
        }
        guard self.height >= 0 else {
            throw FieldError(field: joined(field, "height"), message: "A height of 0 or more is required.")
        }
    }
}
