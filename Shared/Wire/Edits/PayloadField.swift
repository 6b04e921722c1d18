public import Canvas
public import JSONBytes

/// Reads fields that several events share from an app's payload. Every fault is a ``Refusal`` that names the field.
public enum PayloadField {
    /// `elementId`.
    public static func elementID(_ payload: JSONValue) throws(Refusal) -> Identifier {
        do {
            return Identifier(try ElementInput.elementID(payload["elementId"], field: "elementId"))
        } catch {
            throw Refusal(error)
        }
    }

    /// The position and transform fields of a preview or a commit.
    public static func transform(_ payload: JSONValue, isPreview: Bool) throws(Refusal) -> TransformFields {
        do { return try ElementInput.transform(payload, isPreview: isPreview) } catch { throw Refusal(error) }
    }

    /// `elements` of an edit of several: an array of at least one and at most `limit` values.
    static func group(_ value: JSONValue?, limit: Int) throws(Refusal) -> JSONValue {
        guard let value, value.kind == .array, value.count > 0 else {
            throw Refusal(.invalid, "elements is an array of at least one element.", field: "elements")
        }
        guard value.count <= limit else {
            throw Refusal(.tooLarge, "An edit has at most \(limit) elements.", field: "elements")
        }
        return value
    }

    /// Reads a value from JSON text that was well-formed when the gateway forwarded it.
    static func parse<Value>(
        _ json: [UInt8], field: String, _ read: (JSONValue) throws(FieldError) -> Value
    ) throws(Refusal) -> Value {
        var document = JSONDocument()
        do { try document.parse(json) } catch { throw Refusal(.invalid, "The JSON is not well-formed.", field: field) }
        do { return try read(document.root) } catch { throw Refusal(error) }
    }
}

extension Refusal {
    /// The refusal for a field's error.
    public init(_ error: FieldError) {
        self.init(error.tooLarge ? .tooLarge : .invalid, error.message, field: error.field)
    }
}
