public import JSONBytes

extension ElementChanges {
    /// Reads the `set` of an update, a merge patch of one level: `null` removes a field that an element need not have. Fields
    /// that belong to the transform, identify the element or are set by the server are errors; unknown names are the
    /// app's own fields.
    public init(_ set: JSONValue) throws(FieldError) {
        guard set.kind == .object else { throw FieldError(field: "set", message: "An object is required.") }
        self.init()
        for (key, value) in set.members {
            if let field = ElementField.named(key, after: .rev) {
                try self.read(field, value, "set.\(field.name)")
            } else if key.isString("transform" as StaticString) {
                throw FieldError(field: "set.transform", message: Self.isFixed)
            } else {
                self.extra.append(try ExtraField(key, value, "set"))
            }
        }
        try self.extra.filter { !$0.isRemoval }.checkLimits(field: "set")
    }

    private mutating func read(_ field: ElementField, _ value: JSONValue, _ name: String) throws(FieldError) {
        switch field.kind {
        case .option: self[field] = value.isNull ? .remove : .set(try ElementInput.number(of: field, value, name))
        case .bounds: self.bounds = value.isNull ? .remove : .set(try Bounds(value, name))
        case .constraints: self.constraints = value.isNull ? .remove : .set(try Constraints(value, name))
        case .side: self[field] = .set(try ElementInput.number(of: field, value, name))
        case .locked: self.locked = try ElementInput.bool(value, name)
        case .size: throw FieldError(field: name, message: Self.isComputed)
        case .animation: throw FieldError(field: name, message: Self.isAnimated)
        case .id, .type, .moving, .anchor, .space, .parent, .user, .revision, .motion, .envelope:
            throw FieldError(field: name, message: Self.isFixed)
        }
    }

    private static let isFixed = "An update does not change this field."
    private static let isAnimated = "An element:animate sets and removes an animation."
    private static let isComputed = "The drawn size is computed: originalWidth and originalHeight resize an element."
}
