import JSONBytes

/// The root of a text that must parse.
func parsed(_ text: String, limits: JSONLimits = .default) throws -> JSONValue {
    var document = JSONDocument()
    try document.parse(text.utf8, limits: limits)
    return document.root
}

/// Why a text is refused, nil if it is not.
func refusal(_ bytes: some Collection<UInt8>, limits: JSONLimits = .default) -> JSONError.Reason? {
    var document = JSONDocument()
    do throws(JSONError) {
        try document.parse(bytes, limits: limits)
        return nil
    } catch {
        return error.reason
    }
}

func refusal(_ text: String, limits: JSONLimits = .default) -> JSONError.Reason? {
    refusal(Array(text.utf8), limits: limits)
}

/// Writes a value again from its view.
func rewrite(_ value: JSONValue, into writer: inout JSONWriter) {
    switch value.kind {
    case .null: writer.null()
    case .bool: writer.value(value.bool ?? false)
    case .number: writer.value(value.double ?? .nan)
    case .string: writer.value(value.string ?? "?")
    case .array:
        writer.beginArray()
        for element in value.elements { rewrite(element, into: &writer) }
        writer.endArray()
    case .object:
        writer.beginObject()
        for (key, member) in value.members {
            writer.key(string: key.string ?? "?")
            rewrite(member, into: &writer)
        }
        writer.endObject()
    }
}

func rewritten(_ value: JSONValue) -> String {
    var writer = JSONWriter()
    rewrite(value, into: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}
