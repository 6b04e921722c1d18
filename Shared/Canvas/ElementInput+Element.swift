public import JSONBytes

extension ElementInput {
    /// An element to create. `path` is its position in the payload: `element`, `elements[3]`, or empty for the root.
    /// Fields that only the server sets (`createdBy`, `rev`, `seq` …) are ignored, so that an app may send back an
    /// element that it received; unknown names are the app's own fields and are kept.
    public static func newElement(_ element: JSONValue, path: String) throws(FieldError) -> NewElement {
        guard element.kind == .object else { throw FieldError(field: path, message: "An element is an object.") }
        var new = NewElement(type: "")
        var hasType = false
        var previous: ElementField?
        for (key, value) in element.members {
            guard let field = ElementField.named(key, after: previous) else {
                new.extra.append(ExtraField(name: key.string ?? "", json: Array(value.rawBytes)))
                continue
            }
            previous = field
            hasType = hasType || field == .type
            try Self.read(field, value, joined(path, "\(field.name)"), into: &new)
        }
        guard hasType else { throw FieldError(field: joined(path, "type"), message: "A type is required.") }
        if new.space == .normalized, new.parentId == nil {
            throw FieldError(field: joined(path, "parentId"), message: "Normalized space requires a parent.")
        }
        try new.extra.checkLimits(field: path)
        return new
    }

    private static func read(
        _ field: ElementField, _ value: JSONValue, _ name: @autoclosure () -> String, into new: inout NewElement
    ) throws(FieldError) {
        switch field {
        case .id: new.id = try Self.elementID(value, field: name())
        case .parentId: new.parentId = try Self.elementID(value, field: name())
        case .type: new.type = try Self.type(value, name())
        case .positionX: new.transform.positionX = try Self.number(value, name())
        case .positionY: new.transform.positionY = try Self.number(value, name())
        case .rotation: new.transform.rotation = try Self.number(value, name())
        case .scaleX: new.transform.scaleX = try Self.number(value, name())
        case .scaleY: new.transform.scaleY = try Self.number(value, name())
        case .width: new.transform.width = try Self.positive(value, name())
        case .height: new.transform.height = try Self.positive(value, name())
        case .originalWidth: new.originalWidth = try Self.positive(value, name())
        case .originalHeight: new.originalHeight = try Self.positive(value, name())
        case .anchorX: new.anchorX = try Self.number(value, name())
        case .anchorY: new.anchorY = try Self.number(value, name())
        case .locked: new.locked = try Self.bool(value, name())
        case .snapDegrees: new.snapDegrees = try Self.positive(value, name())
        case .bounds: new.bounds = try Self.bounds(value, name())
        case .fontSize: new.fontSize = try Self.number(value, name())
        case .zIndex: new.zIndex = try Self.number(value, name())
        case .space:
            guard let space = value.string.flatMap(Space.init(rawValue:)) else {
                throw FieldError(field: name(), message: "A space is \"canvas\" or \"normalized\".")
            }
            new.space = space
        case .createdBy, .updatedBy, .rev, .roomId, .seq, .userId, .sid, .n, .cause, .part, .parts: break
        }
    }

    private static func type(_ value: JSONValue, _ field: String) throws(FieldError) -> String {
        guard let type = value.string else { throw FieldError(field: field, message: "A type is a string.") }
        guard type.utf8.count <= CanvasLimits.typeBytes else {
            throw FieldError(field: field, message: "A type has at most 32 bytes.")
        }
        return type
    }

    /// The `set` of an update, a merge patch of one level: `null` removes a field that an element need not have. Fields
    /// that belong to the transform, identify the element or are set by the server are errors; unknown names are the
    /// app's own fields.
    public static func changes(_ set: JSONValue) throws(FieldError) -> ElementChanges {
        guard set.kind == .object else { throw FieldError(field: "set", message: "An object is required.") }
        var changes = ElementChanges()
        for (key, value) in set.members {
            let field = ElementField.named(key, after: .rev)
            switch field {
            case .fontSize: changes.fontSize = try Self.change(value, "set.fontSize", Self.requiredNumber)
            case .locked: changes.locked = try Self.bool(value, "set.locked")
            case .snapDegrees: changes.snapDegrees = try Self.change(value, "set.snapDegrees", Self.positive)
            case .bounds: changes.bounds = try Self.change(value, "set.bounds", Self.bounds)
            case .zIndex: changes.zIndex = try Self.change(value, "set.zIndex", Self.requiredNumber)
            case .originalWidth: changes.originalWidth = try Self.positive(value, "set.originalWidth")
            case .originalHeight: changes.originalHeight = try Self.positive(value, "set.originalHeight")
            case .some(let field):
                let isDrawnSize = field == .width || field == .height
                throw FieldError(field: "set.\(field.name)", message: isDrawnSize ? Self.isComputed : Self.isFixed)
            case nil where key.isString("transform" as StaticString):
                throw FieldError(field: "set.transform", message: Self.isFixed)
            case nil:
                changes.extra.append(ExtraField(name: key.string ?? "", json: Array(value.rawBytes)))
            }
        }
        try changes.extra.filter { !$0.isRemoval }.checkLimits(field: "set")
        return changes
    }

    private static let isFixed = "An update does not change this field."
    private static let isComputed = "The drawn size is computed: originalWidth and originalHeight resize an element."

    /// `null` removes a field.
    private static func change<Value>(
        _ value: JSONValue, _ field: String, _ read: (JSONValue, String) throws(FieldError) -> Value
    ) throws(FieldError) -> FieldChange<Value> {
        value.kind == .null ? .remove : .set(try read(value, field))
    }
}
