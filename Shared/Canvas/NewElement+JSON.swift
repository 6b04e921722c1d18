public import JSONBytes

extension NewElement {
    /// Reads an element to create. `path` is its position in the payload: `element`, `elements[3]`, or empty for the root.
    /// Fields that only the server sets (`createdBy`, `rev`, `seq` …) are ignored, so that an app may send back an
    /// element that it received; unknown names are the app's own fields and are kept.
    public init(_ element: JSONValue, path: String) throws(FieldError) {
        guard element.kind == .object else { throw FieldError(field: path, message: "An element is an object.") }
        self.init(type: "")
        var hasType = false
        var previous: ElementField?
        for (key, value) in element.members {
            guard let field = ElementField.named(key, after: previous) else {
                self.extra.append(try ExtraField(key, value, path))
                continue
            }
            previous = field
            hasType = hasType || field == .type
            try self.read(field, value, joined(path, "\(field.name)"))
        }
        guard hasType else { throw FieldError(field: joined(path, "type"), message: "A type is required.") }
        if self.space == .normalized, self.parentId == nil {
            throw FieldError(field: joined(path, "parentId"), message: "Normalized space requires a parent.")
        }
        if isSameText(self.type, Element.guideType) { _ = try Constraints.Axis(element["axis"], joined(path, "axis")) }
        try self.extra.checkLimits(field: path)
    }

    private mutating func read(
        _ field: ElementField, _ value: JSONValue, _ name: @autoclosure () -> String
    ) throws(FieldError) {
        switch field.kind {
        case .id: self.id = try ElementInput.elementID(value, field: name())
        case .parent: self.parentId = try ElementInput.elementID(value, field: name())
        case .type: self.type = try Self.type(value, name())
        case .moving, .size, .side, .anchor, .option: self[field] = try ElementInput.number(of: field, value, name())
        case .locked: self.locked = try ElementInput.bool(value, name())
        case .bounds: self.bounds = try Bounds(value, name())
        case .constraints: self.constraints = try Constraints(value, name())
        case .animation: self.animation = try KeyframeAnimation(value, path: name())
        case .space:
            guard let space = value.string.flatMap(Space.init(rawValue:)) else {
                throw FieldError(field: name(), message: "A space is \"canvas\" or \"normalized\".")
            }
            self.space = space
        case .user, .revision, .motion, .envelope: break
        }
    }

    private static func type(_ value: JSONValue, _ field: String) throws(FieldError) -> String {
        guard let type = value.string else { throw FieldError(field: field, message: "A type is a string.") }
        guard type.utf8.count <= CanvasLimits.typeBytes else {
            throw FieldError(field: field, message: "A type has at most 32 bytes.")
        }
        return type
    }
}
