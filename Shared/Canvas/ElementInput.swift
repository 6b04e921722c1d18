public import JSONBytes

/// Reads single values of payloads from apps. What apps send as a whole has an initializer that reads its payload, such as
/// `NewElement` and `Throw`. All of them either return values of the right type, all numbers finite, or throw an error that
/// names the wrong field. `null` is a wrong value, not an absent one. Unknown fields are ignored except where they are an
/// element's own fields.
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

    static func number(
        _ value: JSONValue?, in range: ClosedRange<Double>, _ path: @autoclosure () -> String
    ) throws(FieldError) -> Double {
        guard let number = value?.double, range.contains(number) else {
            let (low, high) = (jsonText(range.lowerBound), jsonText(range.upperBound))
            throw FieldError(field: path(), message: "A number in \(low)…\(high) is required.")
        }
        return number
    }

    /// One of a few texts; nil when it is absent.
    static func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ value: JSONValue?, _ path: String
    ) throws(FieldError) -> Choice? {
        guard let value else { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            let names = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw FieldError(field: path, message: "One of \(names) is required.")
        }
        return choice
    }

    static func point(_ value: JSONValue, _ field: String) throws(FieldError) -> Point {
        guard value.kind == .object else { throw FieldError(field: field, message: "An object {x, y} is required.") }
        return Point(
            x: try Self.requiredNumber(value["x"], joined(field, "x")),
            y: try Self.requiredNumber(value["y"], joined(field, "y")))
    }
}

private func jsonText(_ number: Double) -> String {
    var writer = JSONWriter()
    writer.value(number)
    return String(decoding: writer.bytes, as: UTF8.self)
}
