/// The part of an element that moves while a finger is down.
public struct Pose: Equatable, Sendable {
    /// The position of the anchor.
    public var position: Point
    /// Pixels towards the viewer.
    public var positionZ = 0.0
    /// The rotation in its plane.
    public var rotation: Angle
    /// The rotations about the x axis and the y axis.
    public var rotationX = Angle.zero, rotationY = Angle.zero
    /// Factor in the element's own x axis; negative is a mirror.
    public var scaleX: Double
    /// Factor in the element's own y axis; negative is a mirror.
    public var scaleY: Double
    /// How far the viewer is away, pixels; 0: infinitely far.
    public var perspective = 0.0
    /// 0 to 1.
    public var opacity: Double

    public init(position: Point, rotation: Angle, scaleX: Double, scaleY: Double, opacity: Double = 1) {
        self.position = position
        self.rotation = rotation
        self.scaleX = scaleX
        self.scaleY = scaleY
        self.opacity = opacity
    }

    /// Whether all its numbers are finite.
    public var isFinite: Bool {
        self.position.isFinite && self.positionZ.isFinite && self.scaleX.isFinite && self.scaleY.isFinite
            && self.perspective.isFinite && self.opacity.isFinite
    }

    /// The pose at `fraction` of the way to another (0 here, 1 there), each number for itself: angles take the shortest
    /// rotation, and perspective is that of the other one from the beginning, because there is nothing between none and
    /// a weak one.
    public func interpolated(to other: Pose, fraction: Double) -> Pose {
        var pose = fraction == 0 ? self : other
        for field in ElementField.animated {
            let (start, end) = (self[field], other[field])
            pose[field] =
                field.isAngle
                ? Angle(degrees: start).interpolated(to: Angle(degrees: end), fraction: fraction).degrees
                : Canvas.interpolated(from: start, to: end, fraction: fraction)
        }
        return pose
    }

    /// The pose with its numbers clamped to ±`CanvasLimits.reach`, so that no sum of some of them overflows.
    var withinReach: Pose {
        var pose = self
        for field in ElementField.moving { pose[field] = clamped(self[field], -CanvasLimits.reach, CanvasLimits.reach) }
        return pose
    }

    /// This pose and a difference.
    func moved(by difference: PoseDifference) -> Pose {
        var pose = self
        for field in ElementField.animated { pose[field] += difference.values[field.slot] }
        return pose
    }

    /// The number in a field that moves.
    package subscript(field: ElementField) -> Double {
        get {
            switch field {
            case .positionX: self.position.x
            case .positionY: self.position.y
            case .positionZ: self.positionZ
            case .rotation: self.rotation.degrees
            case .rotationX: self.rotationX.degrees
            case .rotationY: self.rotationY.degrees
            case .scaleX: self.scaleX
            case .scaleY: self.scaleY
            case .perspective: self.perspective
            case .opacity: self.opacity
            default: 0
            }
        }
        set {
            switch field {
            case .positionX: self.position.x = newValue
            case .positionY: self.position.y = newValue
            case .positionZ: self.positionZ = newValue
            case .rotation: self.rotation = Angle(degrees: newValue)
            case .rotationX: self.rotationX = Angle(degrees: newValue)
            case .rotationY: self.rotationY = Angle(degrees: newValue)
            case .scaleX: self.scaleX = newValue
            case .scaleY: self.scaleY = newValue
            case .perspective: self.perspective = newValue
            case .opacity: self.opacity = newValue
            default: break
            }
        }
    }
}

/// The difference of two poses, number by number: displacements, or velocities per ms. Perspective has none: it jumps.
struct PoseDifference: Equatable, Sendable {
    /// By the slots of their fields.
    private(set) var values = TransformFields.Values()

    static let zero = PoseDifference(values: .zero)

    private init(values: TransformFields.Values) {
        self.values = values
    }

    /// What leads from one pose to another, by the shortest rotations.
    init(from start: Pose, to end: Pose) {
        for field in ElementField.animated {
            let (from, to) = (start[field], end[field])
            self.values[field.slot] =
                field.isAngle ? Angle(degrees: from).shortestTurn(to: Angle(degrees: to)) : to - from
        }
    }

    static func + (left: Self, right: Self) -> Self { Self(values: left.values + right.values) }
    static func - (left: Self, right: Self) -> Self { Self(values: left.values - right.values) }
    static func * (left: Self, factor: Double) -> Self { Self(values: left.values * factor) }
}

extension Pose {
    fileprivate init(of element: Element) {
        self.init(
            position: Point(x: element.positionX, y: element.positionY), rotation: Angle(degrees: element.rotation),
            scaleX: element.scaleX, scaleY: element.scaleY, opacity: element.opacity)
        (self.positionZ, self.perspective) = (element.positionZ, element.perspective)
        (self.rotationX, self.rotationY) = (Angle(degrees: element.rotationX), Angle(degrees: element.rotationY))
    }
}

extension Element {
    /// What of it moves. Setting it applies no rule: it is for drawing an element where somebody moves it.
    public var pose: Pose {
        get { Pose(of: self) }
        set {
            (self.positionX, self.positionY) = (newValue.position.x, newValue.position.y)
            (self.positionZ, self.perspective) = (newValue.positionZ, newValue.perspective)
            self.rotation = newValue.rotation.degrees
            (self.rotationX, self.rotationY) = (newValue.rotationX.degrees, newValue.rotationY.degrees)
            (self.scaleX, self.scaleY, self.opacity) = (newValue.scaleX, newValue.scaleY, newValue.opacity)
        }
    }
}
