public import JSONBytes

extension Throw: JSONEncodable {
    /// Writes what `init(_:isGroup:)` reads, defaults filled in.
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

extension Throw {
    /// Reads the parts of `element:throw` and, without an `angularVelocity`, of `elements:throw` that say how: `velocity`,
    /// `angularVelocity?`, `rate?`, `bounce?`, `snap?: {grid?: {x?, y?}, points?: [{x, y}], within?}`. Velocities are
    /// clamped only when elements are thrown.
    public init(_ payload: JSONValue, isGroup: Bool) throws(FieldError) {
        guard let velocity = payload["velocity"] else {
            throw FieldError(field: "velocity", message: "A velocity {x, y} is required.")
        }
        self.init(velocity: try ElementInput.point(velocity, "velocity"))
        self.angularVelocity = try ElementInput.number(payload["angularVelocity"], "angularVelocity")
        guard !isGroup || self.angularVelocity == nil else {
            throw FieldError(field: "angularVelocity", message: "Only a single element is thrown with a rotation.")
        }
        if let rate = payload["rate"] { self.rate = try ElementInput.number(rate, in: Decay.rates, "rate") }
        if let bounce = payload["bounce"] { self.bounce = try ElementInput.number(bounce, in: 0...1, "bounce") }
        if let snap = payload["snap"] { self.snap = try Snap(snap) }
    }
}

extension Throw.Snap {
    private static let pointCounts = 1...64

    fileprivate init(_ value: JSONValue) throws(FieldError) {
        guard value.kind == .object else {
            throw FieldError(field: "snap", message: "An object {grid?, points?, within?} is required.")
        }
        self.init()
        if let grid = value["grid"] {
            guard grid.kind == .object else {
                throw FieldError(field: "snap.grid", message: "An object {x?, y?} is required.")
            }
            if let step = grid["x"] { self.gridX = try ElementInput.positive(step, "snap.grid.x") }
            if let step = grid["y"] { self.gridY = try ElementInput.positive(step, "snap.grid.y") }
        }
        if let points = value["points"] { self.points = try Self.points(points, "snap.points") }
        if let within = value["within"] {
            self.within = try ElementInput.number(within, in: 0...(.greatestFiniteMagnitude), "snap.within")
        }
    }

    private static func points(_ value: JSONValue, _ field: String) throws(FieldError) -> [Point] {
        guard value.kind == .array, Self.pointCounts.contains(value.count) else {
            throw FieldError(field: field, message: "1 to 64 points {x, y} are required.")
        }
        var points: [Point] = []
        for (index, point) in value.elements.enumerated() {
            points.append(try ElementInput.point(point, "\(field)[\(index)]"))
        }
        return points
    }
}
