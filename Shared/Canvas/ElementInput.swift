public import JSONBytes

/// Parses payloads from apps. Every function either returns values of the right type, all numbers finite, or throws an
/// error that names the wrong field. `null` is a wrong value, not an absent one. Unknown fields are ignored except
/// where they are an element's own fields.
public enum ElementInput {
    /// The id of an element: a string of 1–128 bytes without control characters (C0, DEL, C1).
    public static func elementID(_ value: JSONValue?, field: String) throws(FieldError) -> String {
        guard let value else { throw FieldError(field: field, message: "An element id is required.") }
        guard let count = value.stringByteCount, let id = value.string else {
            throw FieldError(field: field, message: "An element id is a string.")
        }
        guard (1...CanvasLimits.elementIDBytes).contains(count) else {
            throw FieldError(field: field, message: "An element id has 1 to 128 bytes.")
        }
        guard !Self.hasControls(id) else {
            throw FieldError(field: field, message: "An element id has no control characters.")
        }
        return id
    }

    /// The transform of a preview or a commit: `positionX`, `positionY`, `transform {rotation, scaleX, scaleY}` and,
    /// for a commit, the hints `width` and `height`. At least one position or transform field is required.
    public static func transform(_ payload: JSONValue, isPreview: Bool) throws(FieldError) -> TransformFields {
        let fields = try Self.fields(payload, isPreview: isPreview)
        if fields.isEmpty {
            let hasHint = payload["width"] != nil || payload["height"] != nil
            throw FieldError(field: "transform", message: hasHint ? Self.hintsAlone : Self.nothingSent)
        }
        return fields
    }

    /// The same; there may be none.
    package static func fields(_ payload: JSONValue, isPreview: Bool) throws(FieldError) -> TransformFields {
        var fields = TransformFields()
        for field in ElementField.besideTransform {
            if isPreview, field.kind == .size { continue }
            fields[field] = try Self.number(payload[field.name], "\(field.name)")
        }
        if let transform = payload["transform"] {
            guard transform.kind == .object else {
                throw FieldError(field: "transform", message: "A transform is an object.")
            }
            var previous = ElementField.height
            for (key, value) in transform.members {
                guard let field = ElementField.named(key, after: previous), field.isInTransform else { continue }
                previous = field
                fields[field] = try Self.number(value, "transform.\(field.name)")
            }
        }
        return fields
    }

    private static let nothingSent = "A position or a part of a transform is required."
    private static let hintsAlone = """
        A width and a height only tell what the app drew: an element:update of originalWidth and originalHeight resizes.
        """

    // MARK: Values

    /// Control characters are C0, DEL (7F) and C1, which is U+0080–U+009F, in UTF-8 C2 80–C2 9F.
    private static func hasControls(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            bytes.indices.contains { index in
                let byte = bytes[index]
                guard byte < 0x20 || byte >= 0x7F else { return false }
                return byte < 0x80 || byte == 0xC2 && bytes[index + 1] < 0xA0
            }
        }
    }

    /// A number; nil when it is absent.
    static func number(_ value: JSONValue?, _ field: @autoclosure () -> String) throws(FieldError) -> Double? {
        guard let value else { return nil }
        guard let number = value.double else { throw FieldError(field: field(), message: "A number is required.") }
        return number
    }

    static func requiredNumber(_ value: JSONValue?, _ field: String) throws(FieldError) -> Double {
        guard let number = try Self.number(value, field) else {
            throw FieldError(field: field, message: "A number is required.")
        }
        return number
    }

    static func number(
        of field: ElementField, _ value: JSONValue, _ path: @autoclosure () -> String
    ) throws(FieldError) -> Double {
        guard let number = try Self.number(value, path()), !field.isPositive || number > 0 else {
            throw FieldError(field: path(), message: "A number above 0 is required.")
        }
        return number
    }

    /// A number greater than zero, as a divisor.
    static func positive(_ value: JSONValue, _ field: String) throws(FieldError) -> Double {
        let number = try Self.requiredNumber(value, field)
        guard number > 0 else { throw FieldError(field: field, message: "A number above 0 is required.") }
        return number
    }

    static func bool(_ value: JSONValue, _ field: String) throws(FieldError) -> Bool {
        guard let bool = value.bool else { throw FieldError(field: field, message: "true or false is required.") }
        return bool
    }

    static func point(_ value: JSONValue, _ field: String) throws(FieldError) -> Point {
        guard value.kind == .object else { throw FieldError(field: field, message: "An object {x, y} is required.") }
        return Point(
            x: try Self.requiredNumber(value["x"], joined(field, "x")),
            y: try Self.requiredNumber(value["y"], joined(field, "y")))
    }

    /// `{x, y, width, height}` with an extent of 0 or more.
    static func bounds(_ value: JSONValue, _ field: String) throws(FieldError) -> Bounds {
        guard value.kind == .object else {
            throw FieldError(field: field, message: "An object {x, y, width, height} is required.")
        }
        let bounds = Bounds(
            x: try Self.requiredNumber(value["x"], joined(field, "x")),
            y: try Self.requiredNumber(value["y"], joined(field, "y")),
            width: try Self.requiredNumber(value["width"], joined(field, "width")),
            height: try Self.requiredNumber(value["height"], joined(field, "height")))
        guard bounds.width >= 0 else {
            throw FieldError(field: joined(field, "width"), message: "A width of 0 or more is required.")
        }
        guard bounds.height >= 0 else {
            throw FieldError(field: joined(field, "height"), message: "A height of 0 or more is required.")
        }
        return bounds
    }
}
