/// The part of an element that moves while a finger is down.
public struct Pose: Equatable, Sendable {
    /// The position of the anchor.
    public var position: Point
    /// The rotation.
    public var rotation: Angle
    /// Factor in the element's own x axis; negative is a mirror.
    public var scaleX: Double
    /// Factor in the element's own y axis; negative is a mirror.
    public var scaleY: Double
    /// 0 to 1.
    public var opacity: Double

    /// A pose from its parts.
    public init(position: Point, rotation: Angle, scaleX: Double, scaleY: Double, opacity: Double = 1) {
        self.position = position
        self.rotation = rotation
        self.scaleX = scaleX
        self.scaleY = scaleY
        self.opacity = opacity
    }

    /// Whether all its numbers are finite.
    public var isFinite: Bool {
        self.position.isFinite && self.scaleX.isFinite && self.scaleY.isFinite && self.opacity.isFinite
    }

    /// The pose at `fraction` of the way to another (0 here, 1 there); angles take the shortest rotation.
    public func interpolated(to other: Pose, fraction: Double) -> Pose {
        Pose(
            position: self.position.interpolated(to: other.position, fraction: fraction),
            rotation: self.rotation.interpolated(to: other.rotation, fraction: fraction),
            scaleX: Canvas.interpolated(from: self.scaleX, to: other.scaleX, fraction: fraction),
            scaleY: Canvas.interpolated(from: self.scaleY, to: other.scaleY, fraction: fraction),
            opacity: Canvas.interpolated(from: self.opacity, to: other.opacity, fraction: fraction))
    }

    /// The pose with its numbers clamped to ±`CanvasLimits.reach`, so that no sum of some of them overflows.
    var withinReach: Pose {
        func inReach(_ number: Double) -> Double { clamped(number, -CanvasLimits.reach, CanvasLimits.reach) }
        return Pose(
            position: Point(x: inReach(self.position.x), y: inReach(self.position.y)), rotation: self.rotation,
            scaleX: inReach(self.scaleX), scaleY: inReach(self.scaleY), opacity: inReach(self.opacity))
    }

    /// This pose and a difference.
    func moved(by difference: PoseDifference) -> Pose {
        Pose(
            position: self.position + difference.position, rotation: self.rotation.turned(by: difference.degrees),
            scaleX: self.scaleX + difference.scaleX, scaleY: self.scaleY + difference.scaleY,
            opacity: self.opacity + difference.opacity)
    }
}

/// The difference of two poses, number by number: displacements, or velocities per ms.
struct PoseDifference: Equatable, Sendable {
    var position = Point.zero
    var degrees = 0.0, scaleX = 0.0, scaleY = 0.0, opacity = 0.0

    static let zero = PoseDifference()

    /// What leads from one pose to another, by the shortest rotation.
    init(from start: Pose, to end: Pose) {
        self.position = end.position - start.position
        self.degrees = start.rotation.shortestTurn(to: end.rotation)
        self.scaleX = end.scaleX - start.scaleX
        self.scaleY = end.scaleY - start.scaleY
        self.opacity = end.opacity - start.opacity
    }

    private init() {}

    /// Each number made of two.
    private func combined(with other: Self, _ combine: (Double, Double) -> Double) -> Self {
        var result = Self()
        result.position.x = combine(self.position.x, other.position.x)
        result.position.y = combine(self.position.y, other.position.y)
        result.degrees = combine(self.degrees, other.degrees)
        result.scaleX = combine(self.scaleX, other.scaleX)
        result.scaleY = combine(self.scaleY, other.scaleY)
        result.opacity = combine(self.opacity, other.opacity)
        return result
    }

    static func + (left: Self, right: Self) -> Self { left.combined(with: right, +) }
    static func - (left: Self, right: Self) -> Self { left.combined(with: right, -) }
    static func * (left: Self, factor: Double) -> Self { left.combined(with: left) { number, _ in number * factor } }
}

extension Element {
    /// Position, rotation, scale and opacity. Setting it applies no rule: it is for drawing an element where somebody moves it.
    public var pose: Pose {
        get {
            Pose(
                position: Point(x: self.positionX, y: self.positionY), rotation: Angle(degrees: self.rotation),
                scaleX: self.scaleX, scaleY: self.scaleY, opacity: self.opacity)
        }
        set {
            (self.positionX, self.positionY) = (newValue.position.x, newValue.position.y)
            self.rotation = newValue.rotation.degrees
            (self.scaleX, self.scaleY, self.opacity) = (newValue.scaleX, newValue.scaleY, newValue.opacity)
        }
    }
}
