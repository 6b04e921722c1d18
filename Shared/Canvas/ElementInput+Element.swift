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
                new.extra.append(try Self.ownField(key, value, path))
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
        if isSameText(new.type, Element.guideType) { _ = try Self.axis(element["axis"], joined(path, "axis")) }
        try new.extra.checkLimits(field: path)
        return new
    }

    private static func read(
        _ field: ElementField, _ value: JSONValue, _ name: @autoclosure () -> String, into new: inout NewElement
    ) throws(FieldError) {
        switch field.kind {
        case .id: new.id = try Self.elementID(value, field: name())
        case .parent: new.parentId = try Self.elementID(value, field: name())
        case .type: new.type = try Self.type(value, name())
        case .moving, .size, .side, .anchor, .option: new[field] = try Self.number(of: field, value, name())
        case .locked: new.locked = try Self.bool(value, name())
        case .bounds: new.bounds = try Self.bounds(value, name())
        case .constraints: new.constraints = try Self.constraints(value, name())
        case .animation: new.animation = try Self.animation(value, path: name())
        case .space:
            guard let space = value.string.flatMap(Space.init(rawValue:)) else {
                throw FieldError(field: name(), message: "A space is \"canvas\" or \"normalized\".")
            }
            new.space = space
        case .user, .revision, .motion, .envelope: break
        }
    }

    private static func ownField(_ key: JSONValue, _ value: JSONValue, _ path: String) throws(FieldError) -> ExtraField
    {
        let field = ExtraField(name: key.string ?? "", json: value.rawBytes.onOneLine)
        if isSameText(field.name, ExtraField.pictureName), field.pictureBytes == nil, let text = value.string {
            try PictureAddress.check(text, field: joined(path, ExtraField.pictureName))
        }
        return field
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
            if let field = ElementField.named(key, after: .rev) {
                try Self.read(field, value, "set.\(field.name)", into: &changes)
            } else if key.isString("transform" as StaticString) {
                throw FieldError(field: "set.transform", message: Self.isFixed)
            } else {
                changes.extra.append(try Self.ownField(key, value, "set"))
            }
        }
        try changes.extra.filter { !$0.isRemoval }.checkLimits(field: "set")
        return changes
    }

    private static func read(
        _ field: ElementField, _ value: JSONValue, _ name: String, into changes: inout ElementChanges
    ) throws(FieldError) {
        switch field.kind {
        case .option: changes[field] = value.isNull ? .remove : .set(try Self.number(of: field, value, name))
        case .bounds: changes.bounds = value.isNull ? .remove : .set(try Self.bounds(value, name))
        case .constraints: changes.constraints = value.isNull ? .remove : .set(try Self.constraints(value, name))
        case .side: changes[field] = .set(try Self.number(of: field, value, name))
        case .locked: changes.locked = try Self.bool(value, name)
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

extension Collection<UInt8> {
    /// JSON text with spaces in place of line breaks, which stand between its values only: what is stored has one line, as
    /// streams of events need it.
    fileprivate var onOneLine: [UInt8] {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        guard self.contains(where: { $0 == lineFeed || $0 == carriageReturn }) else { return Array(self) }
        return self.map { $0 == lineFeed || $0 == carriageReturn ? UInt8(ascii: " ") : $0 }
    }
}
