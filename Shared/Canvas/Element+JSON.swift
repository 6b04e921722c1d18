public import JSONBytes

extension Element {
    /// Limits under which everything that `encode` writes can be parsed: an element has up to 23 fields of its own, a
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
        writer.member("id", self.id)
        writer.member("type", self.type)
        self.encodeGeometry(into: &writer)
        writer.member("createdBy", self.createdBy)
        writer.member("updatedBy", self.updatedBy)
        writer.member("rev", self.rev)
        self.encodeOptions(into: &writer)
        for field in self.extra {
            writer.key(string: field.name)
            writer.raw(field.json)
        }
    }

    private func encodeGeometry(into writer: inout JSONWriter) {
        writer.member("positionX", self.positionX)
        writer.member("positionY", self.positionY)
        writer.member("width", self.width)
        writer.member("height", self.height)
        writer.member("rotation", self.rotation)
        writer.member("scaleX", self.scaleX)
        writer.member("scaleY", self.scaleY)
        writer.member("originalWidth", self.originalWidth)
        writer.member("originalHeight", self.originalHeight)
        writer.member("anchorX", self.anchorX)
        writer.member("anchorY", self.anchorY)
    }

    private func encodeOptions(into writer: inout JSONWriter) {
        if self.locked {
            writer.member("locked", true)
        }
        writer.member("snapDegrees", ifPresent: self.snapDegrees)
        writer.member("bounds", ifPresent: self.bounds)
        writer.member("fontSize", ifPresent: self.fontSize)
        writer.member("zIndex", ifPresent: self.zIndex)
        if self.space == .normalized {
            writer.member("space", Space.normalized.rawValue)
        }
        writer.member("parentId", ifPresent: self.parentId)
    }

    /// Parses the output of `encode`: its exact inverse, for our own stored text (see `jsonLimits`). Nil for any other
    /// text. Rules are not applied; payloads from apps are parsed by `ElementInput`.
    public init?(json: JSONValue) {
        guard json.kind == .object else { return nil }
        self.init(id: "", type: "", createdBy: "")
        var found: UInt32 = 0
        var previous: ElementField?
        for (key, value) in json.members {
            guard let field = ElementField.named(key, after: previous) else {
                guard let name = key.string else { return nil }
                self.extra.append(ExtraField(name: name, json: Array(value.rawBytes)))
                continue
            }
            previous = field
            guard self.read(field, value) else { return nil }
            found |= 1 << UInt32(field.rawValue)
        }
        // All fields up to `rev` are always written.
        let required: UInt32 = 1 << UInt32(ElementField.rev.rawValue + 1) - 1
        guard found & required == required else { return nil }
    }

    /// Reads one stored field; false if it has the wrong kind.
    private mutating func read(_ field: ElementField, _ value: JSONValue) -> Bool {
        switch field {
        case .id: return Self.assign(value.string, &self.id)
        case .type: return Self.assign(value.string, &self.type)
        case .createdBy: return Self.assign(value.string, &self.createdBy)
        case .updatedBy: return Self.assign(value.string, &self.updatedBy)
        case .parentId: return Self.assignOptional(value.string, &self.parentId)
        case .positionX: return Self.assign(value.double, &self.positionX)
        case .positionY: return Self.assign(value.double, &self.positionY)
        case .rotation: return Self.assign(value.double, &self.rotation)
        case .scaleX: return Self.assign(value.double, &self.scaleX)
        case .scaleY: return Self.assign(value.double, &self.scaleY)
        case .originalWidth: return Self.assign(value.double, &self.originalWidth)
        case .originalHeight: return Self.assign(value.double, &self.originalHeight)
        case .anchorX: return Self.assign(value.double, &self.anchorX)
        case .anchorY: return Self.assign(value.double, &self.anchorY)
        case .rev: return Self.assign(value.integer, &self.rev)
        case .locked: return Self.assign(value.bool, &self.locked)
        case .snapDegrees: return Self.assignOptional(value.double, &self.snapDegrees)
        case .fontSize: return Self.assignOptional(value.double, &self.fontSize)
        case .zIndex: return Self.assignOptional(value.double, &self.zIndex)
        case .bounds: return Self.assignOptional(Bounds(json: value), &self.bounds)
        case .space: return Self.assign(value.string.flatMap(Space.init(rawValue:)), &self.space)
        // Computed, or a broadcast's.
        case .width, .height, .roomId, .seq, .userId, .sid, .n, .cause, .part, .parts: return true
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
}
