public import JSONBytes

extension TransformFields {
    /// Reads the transform of a preview or a commit: `positionX`, `positionY`, `transform {rotation, scaleX, scaleY}` and,
    /// for a commit, the hints `width` and `height`. At least one position or transform field is required.
    public init(_ payload: JSONValue, isPreview: Bool) throws(FieldError) {
        try self.init(mayBeEmpty: payload, isPreview: isPreview)
        if self.isEmpty {
            let hasHint = payload["width"] != nil || payload["height"] != nil
            throw FieldError(field: "transform", message: hasHint ? Self.hintsAlone : Self.nothingSent)
        }
    }

    /// The same; there may be none.
    package init(mayBeEmpty payload: JSONValue, isPreview: Bool) throws(FieldError) {
        self.init()
        for field in ElementField.besideTransform {
            if isPreview, field.kind == .size { continue }
            self[field] = try ElementInput.number(payload[field.name], "\(field.name)")
        }
        guard let transform = payload["transform"] else { return }
        guard transform.kind == .object else {
            throw FieldError(field: "transform", message: "A transform is an object.")
        }
        var previous = ElementField.height
        for (key, value) in transform.members {
            guard let field = ElementField.named(key, after: previous), field.isInTransform else { continue }
            previous = field
            self[field] = try ElementInput.number(value, "transform.\(field.name)")
        }
    }

    private static let nothingSent = "A position or a part of a transform is required."
    private static let hintsAlone = """
        A width and a height only tell what the app drew: an element:update of originalWidth and originalHeight resizes.
        """
}

extension TransformFields {
    /// The values in a payload, where those of `transform` may stand beside it; what is no number counts as absent.
    package init(lenient payload: JSONValue) {
        self.init()
        let transform = payload["transform"]
        for field in ElementField.moving {
            self[field] = transform?[field.name]?.double ?? payload[field.name]?.double
        }
    }

    /// Writes the members `transform` and what stands beside it.
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.object("transform") { self.encode(ElementField.inTransform, into: &$0) }
        self.encode(ElementField.besideTransform, into: &writer)
    }

    /// Writes those of some fields that are set as members, as an element has them.
    package func encode(_ fields: [ElementField] = ElementField.transform, into writer: inout JSONWriter) {
        for field in fields { writer.member(field.name, ifPresent: self[field]) }
    }
}
