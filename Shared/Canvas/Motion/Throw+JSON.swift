public import JSONBytes

extension Throw: JSONEncodable {
    /// Writes what `ElementInput.throwing` reads, defaults filled in.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        self.encodeMembers(into: &writer)
        writer.endObject()
    }

    /// Writes its members into an open object.
    public func encodeMembers(into writer: inout JSONWriter) {
        Self.encode("velocity", self.velocity, into: &writer)
        writer.member("angularVelocity", ifPresent: self.angularVelocity)
        writer.member("rate", self.rate)
        writer.member("bounce", self.bounce)
        guard let snap = self.snap else { return }
        writer.object("snap") { writer in
            if snap.gridX != nil || snap.gridY != nil {
                writer.object("grid") { writer in
                    writer.member("x", ifPresent: snap.gridX)
                    writer.member("y", ifPresent: snap.gridY)
                }
            }
            if !snap.points.isEmpty { writer.objects("points", snap.points) { Self.encode($0, into: &$1) } }
            writer.member("within", ifPresent: snap.within)
        }
    }

    private static func encode(_ name: StaticString, _ point: Point, into writer: inout JSONWriter) {
        writer.object(name) { Self.encode(point, into: &$0) }
    }

    private static func encode(_ point: Point, into writer: inout JSONWriter) {
        writer.member("x", point.x)
        writer.member("y", point.y)
    }
}

extension ElementInput {
    /// The parts of `element:throw` and, without an `angularVelocity`, of `elements:throw` that say how: `velocity`,
    /// `angularVelocity?`, `rate?`, `bounce?`, `snap?: {grid?: {x?, y?}, points?: [{x, y}], within?}`. Velocities are
    /// clamped only when elements are thrown.
    public static func throwing(_ payload: JSONValue, isGroup: Bool) throws(FieldError) -> Throw {
        guard let velocity = payload["velocity"] else {
            throw FieldError(field: "velocity", message: "A velocity {x, y} is required.")
        }
        var request = Throw(velocity: try Self.point(velocity, "velocity"))
        request.angularVelocity = try Self.number(payload["angularVelocity"], "angularVelocity")
        guard !isGroup || request.angularVelocity == nil else {
            throw FieldError(field: "angularVelocity", message: "Only a single element is thrown with a rotation.")
        }
        if let rate = payload["rate"] { request.rate = try Self.number(rate, in: Decay.rates, "rate") }
        if let bounce = payload["bounce"] { request.bounce = try Self.number(bounce, in: 0...1, "bounce") }
        if let snap = payload["snap"] { request.snap = try Self.snap(snap) }
        return request
    }

    private static let pointCounts = 1...64

    private static func snap(_ value: JSONValue) throws(FieldError) -> Throw.Snap {
        guard value.kind == .object else {
            throw FieldError(field: "snap", message: "An object {grid?, points?, within?} is required.")
        }
        var snap = Throw.Snap()
        if let grid = value["grid"] {
            guard grid.kind == .object else {
                throw FieldError(field: "snap.grid", message: "An object {x?, y?} is required.")
            }
            if let step = grid["x"] { snap.gridX = try Self.positive(step, "snap.grid.x") }
            if let step = grid["y"] { snap.gridY = try Self.positive(step, "snap.grid.y") }
        }
        if let points = value["points"] { snap.points = try Self.points(points, "snap.points") }
        if let within = value["within"] {
            snap.within = try Self.number(within, in: 0...(.greatestFiniteMagnitude), "snap.within")
        }
        return snap
    }

    private static func points(_ value: JSONValue, _ field: String) throws(FieldError) -> [Point] {
        guard value.kind == .array, Self.pointCounts.contains(value.count) else {
            throw FieldError(field: field, message: "1 to 64 points {x, y} are required.")
        }
        var points: [Point] = []
        for (index, point) in value.elements.enumerated() {
            points.append(try Self.point(point, "\(field)[\(index)]"))
        }
        return points
    }
}
