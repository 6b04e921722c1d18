package import JSONBytes

extension Easing {
    private static let named: [(easing: Easing, name: StaticString)] = [
        (.linear, "linear"), (.ease, "ease"), (.easeIn, "ease-in"), (.easeOut, "ease-out"),
        (.easeInOut, "ease-in-out"),
    ]

    private static let controls = 0.0...1.0, outputs = -10.0...10.0
    private static let counts: ClosedRange<Int64> = 1...1000, pointCounts = 2...32

    /// Writes a name, or `{bezier: [x1, y1, x2, y2]}`, `{steps, jump}`, `{points: [[input, output], …]}`.
    func encode(into writer: inout JSONWriter) {
        if let (_, name) = Self.named.first(where: { $0.easing == self }) { return writer.value("\(name)") }
        writer.beginObject()
        switch self {
        case .bezier(let x1, let y1, let x2, let y2): writer.member("bezier", [x1, y1, x2, y2])
        case .steps(let count, let jump):
            writer.member("steps", count)
            writer.member("jump", jump.rawValue)
        case .points(let points): writer.member("points", points.map { [$0.input, $0.output] })
        case .linear, .ease, .easeIn, .easeOut, .easeInOut: break
        }
        writer.endObject()
    }

    /// Parses what an app sent.
    init(_ value: JSONValue, _ path: String) throws(FieldError) {
        if let (easing, _) = Self.named.first(where: { value.isString($0.name) }) {
            self = easing
        } else if let bezier = value["bezier"] {
            self = try Self.bezier(bezier, path + ".bezier")
        } else if let steps = value["steps"] {
            self = try Self.steps(steps, jump: value["jump"], path)
        } else if let points = value["points"] {
            self = try Self.points(points, path + ".points")
        } else {
            throw FieldError(
                field: path,
                message: "A curve is linear, ease, ease-in, ease-out, ease-in-out, or an object with its kind.")
        }
    }

    /// Parses the `curve` of a motion: a name, a Bézier curve or steps.
    package init(ofMotion value: JSONValue, path: String) throws(FieldError) {
        try self.init(value, path)
        if case .points = self {
            throw FieldError(field: path + ".points", message: "Only keyframes have curves of points.")
        }
    }

    private static func bezier(_ value: JSONValue, _ path: String) throws(FieldError) -> Easing {
        guard value.kind == .array, value.count == 4 else {
            throw FieldError(field: path, message: "A bezier has 4 numbers: x1, y1, x2, y2.")
        }
        var numbers: [Double] = []
        for (index, number) in value.elements.enumerated() {
            let range = index.isMultiple(of: 2) ? Self.controls : Self.outputs
            numbers.append(try ElementInput.number(number, in: range, "\(path)[\(index)]"))
        }
        return .bezier(x1: numbers[0], y1: numbers[1], x2: numbers[2], y2: numbers[3])
    }

    private static func steps(
        _ value: JSONValue, jump: JSONValue?, _ path: String
    ) throws(FieldError) -> Easing {
        guard let count = value.integer, Self.counts.contains(count) else {
            throw FieldError(field: path + ".steps", message: "A curve has 1 to 1000 steps.")
        }
        let jump = try ElementInput.choice(jump, path + ".jump") ?? Jump.end
        guard jump != .none || count >= 2 else {
            throw FieldError(field: path + ".steps", message: "Without a jump at either end there are 2 steps or more.")
        }
        return .steps(count: Int(count), jump: jump)
    }

    private static func points(_ value: JSONValue, _ path: String) throws(FieldError) -> Easing {
        guard value.kind == .array, Self.pointCounts.contains(value.count) else {
            throw FieldError(field: path, message: "A curve has 2 to 32 points.")
        }
        var points: [ControlPoint] = []
        for (index, pair) in value.elements.enumerated() {
            let path = "\(path)[\(index)]"
            var parts = pair.elements
            guard pair.kind == .array, pair.count == 2, let input = parts.next(), let output = parts.next() else {
                throw FieldError(field: path, message: "A point is [time, value].")
            }
            // The first is at 0, the last at 1, none before the one before it.
            let low = index == value.count - 1 ? 1 : points.last?.input ?? 0
            let range = low...(index == 0 ? 0 : 1)
            points.append(
                ControlPoint(
                    input: try ElementInput.number(input, in: range, path + "[0]"),
                    output: try ElementInput.number(output, in: Self.outputs, path + "[1]")))
        }
        return .points(points)
    }
}
