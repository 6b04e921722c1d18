public import JSONBytes

extension Element: JSONEncodable {
    /// Limits under which everything that `encode` writes can be parsed: an element has the fields of the table, a
    /// broadcast adds a few, and the app may have 64.
    public static let jsonLimits: JSONLimits = {
        var limits = JSONLimits()
        limits.keysPerObject = 128
        limits.keyLength = .max
        return limits
    }()

    /// Writes the flat object. Optional fields are written only if they are set.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        self.encodeMembers(into: &writer)
        writer.endObject()
    }

    /// Writes the flat object's members into an open object, to which a broadcast appends its own.
    public func encodeMembers(into writer: inout JSONWriter) {
        for field in ElementField.stored { self.encode(field, into: &writer) }
        self.extra.encodeMembers(into: &writer)
    }

    @inline(__always)
    private func encode(_ field: ElementField, into writer: inout JSONWriter) {
        switch field.kind {
        case .id: writer.member(field.name, self.id)
        case .type: writer.member(field.name, self.type)
        case .user: writer.member(field.name, field == .createdBy ? self.createdBy : self.updatedBy)
        case .revision: writer.member(field.name, self.rev)
        case .moving: if let value = self[field], value != field.omitted { writer.member(field.name, value) }
        case .side, .anchor, .option, .size: writer.member(field.name, ifPresent: self[field])
        case .locked: if self.locked { writer.member(field.name, true) }
        case .bounds: writer.member(field.name, ifPresent: self.bounds)
        case .constraints: writer.member(field.name, ifPresent: self.constraints)
        case .motion: if !self.motion.isEmpty { writer.member(field.name, ifPresent: self.motion) }
        case .animation: writer.member(field.name, ifPresent: self.animation)
        case .space: if self.space == .normalized { writer.member(field.name, self.space.rawValue) }
        case .parent: writer.member(field.name, ifPresent: self.parentId)
        case .envelope: break
        }
    }

    /// Parses the output of `encode`: its exact inverse, for our own stored text (see `jsonLimits`). Nil for any other
    /// text. Rules are not applied; payloads from apps are parsed by `ElementInput`.
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
            guard self.read(field, value) else { return nil }
            found |= 1 << UInt64(field.rawValue)
        }
        guard found & Self.required == Self.required else { return nil }
    }

    /// The fields that are always written.
    private static let required = ElementField.stored.reduce(0 as UInt64) { required, field in
        let isRequired =
            switch field.kind {
            case .id, .type, .user, .revision, .size, .side, .anchor: true
            case .moving: field.omitted == nil
            case .option, .locked, .bounds, .constraints, .space, .parent, .motion, .animation, .envelope: false
            }
        return isRequired ? required | 1 << UInt64(field.rawValue) : required
    }

    /// Reads one field; false if it has the wrong kind: it then stays as it is, or is absent if it may be.
    package mutating func read(_ field: ElementField, _ value: JSONValue) -> Bool {
        switch field.kind {
        case .id: return Self.assign(value.string, &self.id)
        case .type: return Self.assign(value.string, &self.type)
        case .user where field == .createdBy: return Self.assign(value.string, &self.createdBy)
        case .user: return Self.assign(value.string, &self.updatedBy)
        case .revision: return Self.assign(value.integer, &self.rev)
        case .moving, .side, .anchor, .option:
            self[field] = value.double
            return value.double != nil
        case .locked: return Self.assign(value.bool, &self.locked)
        case .bounds: return Self.assignOptional(Bounds(json: value), &self.bounds)
        case .constraints: return Self.assignOptional(Constraints(json: value), &self.constraints)
        case .motion: return Self.assign(Motion(json: value), &self.motion)
        case .animation: return Self.assignOptional(KeyframeAnimation(json: value), &self.animation)
        case .space: return Self.assign(value.string.flatMap(Space.init(rawValue:)), &self.space)
        case .parent: return Self.assignOptional(value.string, &self.parentId)
        // Computed, or a broadcast's.
        case .size, .envelope: return true
        }
    }

    @inline(__always)
    private static func assign<Value>(_ value: Value?, _ target: inout Value) -> Bool {
        guard let value else { return false }
        target = value
        return true
    }

    private static func assignOptional<Value>(_ value: Value?, _ target: inout Value?) -> Bool {
        target = value
        return value != nil
    }
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
