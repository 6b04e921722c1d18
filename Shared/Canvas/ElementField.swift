package import JSONBytes

/// The fields of a flat element, except the app's own, in the order in which an element is written. What is to be known
/// of each stands in its row: parsing, writing, the wire, undo, rules and the descriptions of the API follow from it.
public enum ElementField: UInt8, CaseIterable, Sendable {
    case id, type
    // Those of `TransformFields`, up to `originalWidth`.
    case positionX, positionY, positionZ, width, height, rotation, rotationX, rotationY, scaleX, scaleY
    case perspective, opacity
    case originalWidth, originalHeight, anchorX, anchorY, motion, createdBy, updatedBy, rev
    case animation, locked, snapDegrees, bounds, constraints, fontSize, zIndex, space, parentId
    /// Fields that a broadcast adds to the element's: an extra field of that name would be a duplicate key there.
    case roomId, seq, userId, sid, n, cause, part, parts

    @inline(__always)
    private var row: Row {
        switch self {
        case .id: Row(name: "id", kind: .id)
        case .type: Row(name: "type", kind: .type)
        case .positionX: Row(name: "positionX", kind: .moving, isInTransform: false, motion: (0.1, 20_000))
        case .positionY: Row(name: "positionY", kind: .moving, isInTransform: false, motion: (0.1, 20_000))
        case .positionZ:
            Row(
                name: "positionZ", kind: .moving, isInTransform: false, rule: .whole(CanvasLimits.depth),
                isDeep: true, omitted: 0, motion: (0.1, 20_000))
        case .width: Row(name: "width", kind: .size, isPositive: true)
        case .height: Row(name: "height", kind: .size, isPositive: true)
        case .rotation: Row(name: "rotation", kind: .moving, isAngle: true, motion: (0.01, 3600))
        case .rotationX:
            Row(
                name: "rotationX", kind: .moving, isAngle: true, rule: .angle, isDeep: true, omitted: 0,
                motion: (0.01, 3600))
        case .rotationY:
            Row(
                name: "rotationY", kind: .moving, isAngle: true, rule: .angle, isDeep: true, omitted: 0,
                motion: (0.01, 3600))
        case .scaleX: Row(name: "scaleX", kind: .moving, motion: (0.0001, 100))
        case .scaleY: Row(name: "scaleY", kind: .moving, motion: (0.0001, 100))
        case .perspective:
            Row(name: "perspective", kind: .moving, rule: .range(CanvasLimits.perspective), isDeep: true, omitted: 0)
        case .opacity: Row(name: "opacity", kind: .moving, rule: .range(0...1), omitted: 1, motion: (0.001, 100))
        case .originalWidth: Row(name: "originalWidth", kind: .side, isPositive: true)
        case .originalHeight: Row(name: "originalHeight", kind: .side, isPositive: true)
        case .anchorX: Row(name: "anchorX", kind: .anchor)
        case .anchorY: Row(name: "anchorY", kind: .anchor)
        case .motion: Row(name: "motion", kind: .motion)
        case .createdBy: Row(name: "createdBy", kind: .user)
        case .updatedBy: Row(name: "updatedBy", kind: .user)
        case .rev: Row(name: "rev", kind: .revision)
        case .animation: Row(name: "animation", kind: .animation)
        case .locked: Row(name: "locked", kind: .locked)
        case .snapDegrees:
            Row(name: "snapDegrees", kind: .option, isPositive: true, rule: .range(0...CanvasLimits.snapDegrees))
        case .bounds: Row(name: "bounds", kind: .bounds)
        case .constraints: Row(name: "constraints", kind: .constraints)
        case .fontSize: Row(name: "fontSize", kind: .option)
        case .zIndex: Row(name: "zIndex", kind: .option)
        case .space: Row(name: "space", kind: .space)
        case .parentId: Row(name: "parentId", kind: .parent)
        case .roomId: Row(name: "roomId", kind: .envelope)
        case .seq: Row(name: "seq", kind: .envelope)
        case .userId: Row(name: "userId", kind: .envelope)
        case .sid: Row(name: "sid", kind: .envelope)
        case .n: Row(name: "n", kind: .envelope)
        case .cause: Row(name: "cause", kind: .envelope)
        case .part: Row(name: "part", kind: .envelope)
        case .parts: Row(name: "parts", kind: .envelope)
        }
    }

    private struct Row {
        let name: StaticString
        let kind: Kind
        var isInTransform = true
        var isPositive = false
        var isAngle = false
        var rule: Rule?
        var isDeep = false
        var omitted: Double?
        var motion: (stillness: Double, topSpeed: Double)?
    }

    /// What becomes of a number for which the table alone says it.
    package enum Rule: Sendable {
        /// It is clamped; 0 stays 0.
        case range(ClosedRange<Double>)
        /// It is rounded to a whole number, halves away from zero, and clamped.
        case whole(ClosedRange<Double>)
        /// Degrees: it is normalised to [0, 360).
        case angle
    }

    /// What a field holds.
    package enum Kind: Sendable {
        /// A number that moves: transforms set it, previews show it.
        case moving
        /// A drawn side, computed. Apps may tell what they drew.
        case size
        /// A side at scale 1: an update resizes.
        case side
        /// A number that gestures set.
        case anchor
        /// A number that an element need not have.
        case option
        case id, type, locked, bounds, constraints, space, parent
        /// How the eye gets to where the element is: set by the server.
        case motion
        /// Keyframes: `element:animate` sets them.
        case animation
        /// Set by the server.
        case user, revision
        /// Not the element's.
        case envelope
    }

    @inline(__always)
    package var name: StaticString { self.row.name }

    @inline(__always)
    package var kind: Kind { self.row.kind }

    /// A transform has it in its `transform`, else beside that.
    package var isInTransform: Bool { self.row.isInTransform && self.kind == .moving }

    /// An app may only send it above 0.
    package var isPositive: Bool { self.row.isPositive }

    /// Degrees of a circle.
    package var isAngle: Bool { self.row.isAngle }

    /// Its rule, unless the type's or the position's is another one.
    package var rule: Rule? { self.row.rule }

    /// To which it is clamped.
    package var range: ClosedRange<Double>? {
        switch self.row.rule {
        case .range(let range), .whole(let range): range
        case .angle, nil: nil
        }
    }

    /// It takes an element out of the plane, so it is 0 where the rule `depth` forbids that.
    package var isDeep: Bool { self.row.isDeep }

    /// The number with which it is not written; nil: it always is.
    package var omitted: Double? { self.row.omitted }

    /// Whether tracks and animations move it; others jump.
    package var isAnimated: Bool { self.row.motion != nil }

    /// Below this change it counts as still: pixels, degrees, or its own unit. Of what jumps: 0.
    package var stillness: Double { self.row.motion?.stillness ?? 0 }

    /// The highest velocity that an app may give it, in the same units a second.
    package var topSpeed: Double { self.row.motion?.topSpeed ?? 0 }

    /// How much of this field stands for a unit of `stillness` and `topSpeed`: of annotations' positions, fractions of
    /// a side, a thousandth for each pixel.
    package func motionUnit(in space: Space) -> Double {
        space == .normalized && (self == .positionX || self == .positionY) ? 0.001 : 1
    }

    private static func all(_ kinds: Kind...) -> [ElementField] { Self.allCases.filter { kinds.contains($0.kind) } }

    /// All that an element can have.
    package static let stored = Self.allCases.filter { $0.kind != .envelope }

    /// What says where it is and how large: a lock holds it.
    static let geometry = Self.all(.moving, .side, .anchor)

    /// What it need not have, for apps to set.
    package static let options = Self.all(.option, .locked, .bounds, .constraints)

    /// What it need not have and an app set: an undo takes it back.
    static let content = Self.options + Self.all(.animation)

    /// Those that move.
    package static let moving = Self.all(.moving)

    /// Those that tracks and animations move.
    package static let animated = Self.allCases.filter(\.isAnimated)

    /// Those that move and have no rule but their row's.
    package static let ruledAlone = Self.moving.filter { $0.rule != nil }

    /// Those that a transform sets, and the drawn sides; of them those beside its `transform`, and those in it.
    package static let transform = Self.all(.moving, .size)
    package static let besideTransform = Self.transform.filter { !$0.isInTransform }
    package static let inTransform = Self.transform.filter(\.isInTransform)

    private static let names = Self.allCases.map(\.name)

    /// The field of that name; nil if it is the app's own. Most objects are in the order in which we write them, so the
    /// search starts after the previous field.
    package static func named(_ key: JSONValue, after previous: ElementField?) -> ElementField? {
        let names = Self.names
        var index = previous.map { Int($0.rawValue) + 1 } ?? 0
        for _ in names.indices {
            if index >= names.count { index = 0 }
            if key.isString(names[index]) { return ElementField(rawValue: UInt8(truncatingIfNeeded: index)) }
            index += 1
        }
        return nil
    }
}
