public import JSONBytes

/// How the eye gets to where a commit puts an element: the `motion` that an app sends with it.
public struct MotionRequest: Equatable, Sendable {
    /// What moves it.
    public enum Kind: Equatable, Sendable {
        /// A curve, over some ms.
        case eased(ms: Double, Easing)
        /// A spring, until it rests: its response in seconds, its damping, and the velocities that it begins with, units
        /// a second.
        case spring(response: Double, damping: Double, velocity: ByField<Double>)
    }

    /// The way around for angles.
    public enum Turn: String, CaseIterable, Sendable {
        /// The shorter one; half a turn goes clockwise.
        case short
        /// Clockwise, and counterclockwise.
        case cw, ccw

        /// The degrees from one angle to another.
        func degrees(from start: Double, to end: Double) -> Double {
            let clockwise = Angle.normalized(end - start)
            return switch self {
            case .short: clockwise > 180 ? clockwise - 360 : clockwise
            case .cw: clockwise
            case .ccw: clockwise > 0 ? clockwise - 360 : 0
            }
        }
    }

    /// What moves it.
    public var kind: Kind
    /// The way around for angles.
    public var turn: Turn
    /// Where a hand let go. Fields that it does not name start from what shows.
    public var from: ByField<Double>

    public init(_ kind: Kind, turn: Turn = .short, from: ByField<Double> = ByField()) {
        self.kind = kind
        self.turn = turn
        self.from = from
    }
}

extension MotionRequest: JSONEncodable {
    private static let lengths = 1.0...60_000.0, responses = 0.02...10.0, dampings = 0.05...5.0
    private static let standard = (easing: Easing.easeInOut, response: 0.5, damping: 0.825)

    /// Writes it as `init(_:path:)` reads it, with its defaults.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        switch self.kind {
        case .eased(let ms, let easing):
            writer.member("ms", ms)
            writer.key("curve")
            easing.encode(into: &writer)
        case .spring(let response, let damping, let velocity):
            writer.object("spring") { writer in
                writer.member("response", response)
                writer.member("damping", damping)
                if velocity.isEmpty { return }
                writer.object("velocity") { writer in
                    for entry in velocity.entries { writer.member(entry.field.name, entry.value) }
                }
            }
        }
        writer.member("turn", self.turn.rawValue)
        if !self.from.isEmpty {
            writer.object("from") { writer in
                for entry in self.from.entries { writer.member(entry.field.name, entry.value) }
            }
        }
        writer.endObject()
    }

    /// Reads the `motion` of a commit.
    public init(_ value: JSONValue, path: String) throws(FieldError) {
        guard value.kind == .object else { throw FieldError(field: path, message: "A motion is an object.") }
        if let spring = value["spring"] {
            guard value["ms"] == nil, value["curve"] == nil else {
                throw FieldError(field: path + ".spring", message: "A motion has a spring, or ms and a curve.")
            }
            self.kind = try Self.spring(spring, path + ".spring")
        } else {
            self.kind = try Self.eased(value, path)
        }
        self.turn = try ElementInput.choice(value["turn"], path + ".turn") ?? .short
        self.from = ByField()
        if let from = value["from"] { self.from = try ByField(from, path: path + ".from") }
    }

    private static func eased(_ value: JSONValue, _ path: String) throws(FieldError) -> Kind {
        let ms = try ElementInput.number(value["ms"], in: Self.lengths, path + ".ms")
        guard let curve = value["curve"] else { return .eased(ms: ms, Self.standard.easing) }
        return .eased(ms: ms, try Easing(ofMotion: curve, path: path + ".curve"))
    }

    private static func spring(_ value: JSONValue, _ path: String) throws(FieldError) -> Kind {
        guard value.kind == .object else { throw FieldError(field: path, message: "A spring is an object.") }
        func number(_ name: StaticString, _ range: ClosedRange<Double>, _ standard: Double) throws(FieldError) -> Double
        {
            guard let value = value[name] else { return standard }
            return try ElementInput.number(value, in: range, "\(path).\(name)")
        }
        var velocity = ByField<Double>()
        if let value = value["velocity"] {
            velocity = try ByField(value, path: path + ".velocity")
        }
        return .spring(
            response: try number("response", Self.responses, Self.standard.response),
            damping: try number("damping", Self.dampings, Self.standard.damping), velocity: velocity)
    }
}
