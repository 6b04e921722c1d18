public import JSONBytes

extension Constraints: JSONEncodable {
    /// Writes `{axis?, rotation?: {min, max}, scale?: {min, max}, grid?: {x?, y?, offsetX?, offsetY?}}`.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("axis", ifPresent: self.axis?.rawValue)
        Self.encode("rotation", self.rotation, into: &writer)
        Self.encode("scale", self.scale, into: &writer)
        if let grid = self.grid {
            writer.object("grid") { writer in
                writer.member("x", ifPresent: grid.x)
                writer.member("y", ifPresent: grid.y)
                writer.member("offsetX", ifPresent: grid.offsetX)
                writer.member("offsetY", ifPresent: grid.offsetY)
            }
        }
        writer.endObject()
    }

    private static func encode(_ name: StaticString, _ range: ClosedRange<Double>?, into writer: inout JSONWriter) {
        guard let range else { return }
        writer.object(name) { writer in
            writer.member("min", range.lowerBound)
            writer.member("max", range.upperBound)
        }
    }

    init?(json: JSONValue) {
        do { self = try ElementInput.constraints(json, "") } catch { return nil }
    }
}

extension ElementInput {
    /// `{axis?, rotation?: {min, max}, scale?: {min, max}, grid?: {x?, y?, offsetX?, offsetY?}}`.
    static func constraints(_ value: JSONValue, _ field: String) throws(FieldError) -> Constraints {
        guard value.kind == .object else {
            throw FieldError(field: field, message: "An object {axis?, rotation?, scale?, grid?} is required.")
        }
        var constraints = Constraints()
        if let axis = value["axis"] { constraints.axis = try Self.axis(axis, joined(field, "axis")) }
        constraints.rotation = try Self.range(value["rotation"], joined(field, "rotation"))
        constraints.scale = try Self.range(value["scale"], joined(field, "scale"))
        if let grid = value["grid"] { constraints.grid = try Self.grid(grid, joined(field, "grid")) }
        try constraints.check(field)
        return constraints
    }

    static func axis(_ value: JSONValue?, _ field: String) throws(FieldError) -> Constraints.Axis {
        guard let axis = value?.string.flatMap(Constraints.Axis.init(rawValue:)) else {
            throw FieldError(field: field, message: "An axis is \"x\" or \"y\".")
        }
        return axis
    }

    private static func range(_ value: JSONValue?, _ field: String) throws(FieldError) -> ClosedRange<Double>? {
        guard let value else { return nil }
        guard value.kind == .object else {
            throw FieldError(field: field, message: "An object {min, max} is required.")
        }
        let low = try Self.requiredNumber(value["min"], joined(field, "min"))
        let high = try Self.requiredNumber(value["max"], joined(field, "max"))
        guard low <= high else {
            throw FieldError(field: joined(field, "max"), message: "A max of at least min is required.")
        }
        return low...high
    }

    private static func grid(_ value: JSONValue, _ field: String) throws(FieldError) -> Constraints.Grid {
        guard value.kind == .object else {
            throw FieldError(field: field, message: "An object {x?, y?, offsetX?, offsetY?} is required.")
        }
        return Constraints.Grid(
            x: try Self.number(value["x"], joined(field, "x")), y: try Self.number(value["y"], joined(field, "y")),
            offsetX: try Self.number(value["offsetX"], joined(field, "offsetX")),
            offsetY: try Self.number(value["offsetY"], joined(field, "offsetY")))
    }
}
