public import JSONBytes

extension KeyframeAnimation: JSONEncodable {
    /// Writes `{ms, iterations, direction, delayMs, composite, tracks: {field: [{at, value, curve}, …]}, startedAt}`.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("ms", self.ms)
        if self.iterations.isFinite {
            writer.member("iterations", self.iterations)
        } else {
            writer.member("iterations", "infinite")
        }
        writer.member("direction", self.direction.rawValue)
        writer.member("delayMs", self.delayMs)
        writer.member("composite", self.composite.rawValue)
        writer.object("tracks") { writer in
            for entry in self.tracks.entries {
                writer.objects(entry.field.name, entry.value) { keyframe, writer in
                    writer.member("at", keyframe.at)
                    writer.member("value", keyframe.value)
                    writer.key("curve")
                    keyframe.curve.encode(into: &writer)
                }
            }
        }
        writer.member("startedAt", self.startedAt)
        writer.endObject()
    }

    /// Parses the output of `encode`; nil for another text.
    public init?(json: JSONValue) {
        guard let startedAt = json["startedAt"]?.double,
            let animation = try? KeyframeAnimation(json, "", longestDelay: .infinity)
        else { return nil }
        self = animation
        self.startedAt = startedAt
    }

    private static let lengths = 16.0...3_600_000.0, longestDelay = 3_600_000.0
    private static let iterationCounts = 1.0...1e6
    private static let values = -1e9...1e9
    private static let keyframeCounts = 1...CanvasLimits.keyframes

    /// Reads an animation that an app sends; what is left out has its default. It has no start yet.
    public init(_ value: JSONValue, path: String) throws(FieldError) {
        try self.init(value, path, longestDelay: Self.longestDelay)
        guard self.jsonText.count <= CanvasLimits.animationBytes else {
            throw FieldError(
                field: path, message: "An animation has at most \(CanvasLimits.animationBytes) bytes.", tooLarge: true)
        }
    }

    private init(_ value: JSONValue, _ path: String, longestDelay: Double) throws(FieldError) {
        guard value.kind == .object else { throw FieldError(field: path, message: "An animation is an object.") }
        self.init(ms: try ElementInput.number(value["ms"], in: Self.lengths, joined(path, "ms")))
        self.iterations = try Self.iterations(value["iterations"], joined(path, "iterations"))
        self.direction = try ElementInput.choice(value["direction"], joined(path, "direction")) ?? .normal
        self.composite = try ElementInput.choice(value["composite"], joined(path, "composite")) ?? .replace
        if let delay = value["delayMs"] {
            self.delayMs = try ElementInput.number(delay, in: 0...longestDelay, joined(path, "delayMs"))
        }
        self.tracks = try Self.tracks(value["tracks"], joined(path, "tracks"))
    }

    private static func iterations(_ value: JSONValue?, _ path: String) throws(FieldError) -> Double {
        guard let value else { return 1 }
        if value.isString("infinite" as StaticString) { return .infinity }
        guard let count = value.double, Self.iterationCounts.contains(count) else {
            throw FieldError(field: path, message: "\"infinite\", or a number in 1…1000000, is required.")
        }
        return count
    }

    private static func tracks(_ value: JSONValue?, _ path: String) throws(FieldError) -> ByField<[Keyframe]> {
        guard let value, value.kind == .object, value.count > 0 else {
            throw FieldError(field: path, message: "An object with keyframes of a field or more is required.")
        }
        return try ByField(value, path, Self.keyframes)
    }

    private static func keyframes(_ value: JSONValue, _ path: String) throws(FieldError) -> [Keyframe] {
        guard value.kind == .array, Self.keyframeCounts.contains(value.count) else {
            throw FieldError(field: path, message: "A field has 1 to 64 keyframes.")
        }
        var keyframes: [Keyframe] = []
        for (index, keyframe) in value.elements.enumerated() {
            let path = "\(path)[\(index)]"
            guard keyframe.kind == .object else {
                throw FieldError(field: path, message: "A keyframe is an object.")
            }
            let places = (keyframes.last?.at ?? 0)...1
            keyframes.append(
                Keyframe(
                    at: try ElementInput.number(keyframe["at"], in: places, path + ".at"),
                    value: try ElementInput.number(keyframe["value"], in: Self.values, path + ".value"),
                    curve: try Self.curve(keyframe["curve"], path + ".curve")))
        }
        return keyframes
    }

    private static func curve(_ value: JSONValue?, _ path: String) throws(FieldError) -> Easing {
        guard let value else { return .linear }
        return try Easing(value, path)
    }
}
