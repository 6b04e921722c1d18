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
        do { try self.init(json, "") } catch { return nil }
    }

    /// Reads what `encode` writes, as an app sends it.
    init(_ value: JSONValue, _ field: String) throws(FieldError) {
        guard value.kind == .object else {
            throw FieldError(field: field, message: "An object {axis?, rotation?, scale?, grid?} is required.")
        }
        self.init()
        if let axis = value["axis"] { self.axis = try Axis(axis, joined(field, "axis")) }
        self.rotation = try Self.range(value["rotation"], joined(field, "rotation"))
        self.scale = try Self.range(value["scale"], joined(field, "scale"))
        if let grid = value["grid"] { self.grid = try Grid(grid, joined(field, "grid")) }
        try self.check(field)
    }

    private static func range(_ value: JSONValue?, _ field: String) throws(FieldError) -> ClosedRange<Double>? {
        guard let value else { return nil }
        guard value.kind == .object else {
            throw FieldError(field: field, message: "An object {min, max} is required.")
        }
        let low = try ElementInput.requiredNumber(value["min"], joined(field, "min"))
        let high = try ElementInput.requiredNumber(value["max"], joined(field, "max"))
        guard low <= high else {
            throw FieldError(field: joined(field, "max"), message: "A max of at least min is required.")
        }
        return low...high
    }
}

extension Constraints.Axis {
    init(_ value: JSONValue?, _ field: String) throws(FieldError) {
        guard let axis = value?.string.flatMap(Self.init(rawValue:)) else {
            throw FieldError(field: field, message: "An axis is \"x\" or \"y\".")
        }
        self = axis
    }
}

extension Constraints.Grid {
    fileprivate init(_ value: JSONValue, _ field: String) throws(FieldError) {
        guard value.kind == .object else {
            throw FieldError(field: field, message: "An object {x?, y?, offsetX?, offsetY?} is required.")
        }
        self.init(
            x: try ElementInput.number(value["x"], joined(field, "x")),
            y: try ElementInput.number(value["y"], joined(field, "y")),
            offsetX: try ElementInput.number(value["offsetX"], joined(field, "offsetX")),
            offsetY: try ElementInput.number(value["offsetY"], joined(field, "offsetY")))
    }
}
