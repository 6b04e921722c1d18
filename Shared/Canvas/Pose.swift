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
        func between(_ start: Double, _ end: Double) -> Double {
            Canvas.interpolated(from: start, to: end, fraction: fraction)
        }
        var pose = fraction == 0 ? self : other
        pose.position = self.position.interpolated(to: other.position, fraction: fraction)
        pose.positionZ = between(self.positionZ, other.positionZ)
        pose.rotation = self.rotation.interpolated(to: other.rotation, fraction: fraction)
        pose.rotationX = self.rotationX.interpolated(to: other.rotationX, fraction: fraction)
        pose.rotationY = self.rotationY.interpolated(to: other.rotationY, fraction: fraction)
        pose.scaleX = between(self.scaleX, other.scaleX)
        pose.scaleY = between(self.scaleY, other.scaleY)
        pose.opacity = between(self.opacity, other.opacity)
        return pose
    }

    /// The pose with its numbers clamped to ±`CanvasLimits.reach`, so that no sum of some of them overflows.
    var withinReach: Pose {
        func inReach(_ number: Double) -> Double { clamped(number, -CanvasLimits.reach, CanvasLimits.reach) }
        var pose = self
        pose.position = Point(x: inReach(self.position.x), y: inReach(self.position.y))
        pose.positionZ = inReach(self.positionZ)
        (pose.scaleX, pose.scaleY) = (inReach(self.scaleX), inReach(self.scaleY))
        (pose.perspective, pose.opacity) = (inReach(self.perspective), inReach(self.opacity))
        return pose
    }

    /// This pose and a difference.
    func moved(by difference: PoseDifference) -> Pose {
        var pose = self
        pose.position = self.position + difference.position
        pose.positionZ += difference.positionZ
        pose.rotation = self.rotation.turned(by: difference.degrees)
        pose.rotationX = self.rotationX.turned(by: difference.degreesX)
        pose.rotationY = self.rotationY.turned(by: difference.degreesY)
        pose.scaleX += difference.scaleX
        pose.scaleY += difference.scaleY
        pose.opacity += difference.opacity
        return pose
    }
}

/// The difference of two poses, number by number: displacements, or velocities per ms. Perspective has none: it jumps.
struct PoseDifference: Equatable, Sendable {
    var position = Point.zero
    var positionZ = 0.0, degrees = 0.0, degreesX = 0.0, degreesY = 0.0, scaleX = 0.0, scaleY = 0.0, opacity = 0.0

    static let zero = PoseDifference()

    /// What leads from one pose to another, by the shortest rotations.
    init(from start: Pose, to end: Pose) {
        self.position = end.position - start.position
        self.positionZ = end.positionZ - start.positionZ
        self.degrees = start.rotation.shortestTurn(to: end.rotation)
        self.degreesX = start.rotationX.shortestTurn(to: end.rotationX)
        self.degreesY = start.rotationY.shortestTurn(to: end.rotationY)
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
        result.positionZ = combine(self.positionZ, other.positionZ)
        result.degrees = combine(self.degrees, other.degrees)
        result.degreesX = combine(self.degreesX, other.degreesX)
        result.degreesY = combine(self.degreesY, other.degreesY)
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
    /// What of it moves. Setting it applies no rule: it is for drawing an element where somebody moves it.
    public var pose: Pose {
        get {
            var pose = Pose(
                position: Point(x: self.positionX, y: self.positionY), rotation: Angle(degrees: self.rotation),
                scaleX: self.scaleX, scaleY: self.scaleY, opacity: self.opacity)
            (pose.positionZ, pose.perspective) = (self.positionZ, self.perspective)
            pose.rotationX = Angle(degrees: self.rotationX)
            pose.rotationY = Angle(degrees: self.rotationY)
            return pose
        }
        set {
            (self.positionX, self.positionY) = (newValue.position.x, newValue.position.y)
            (self.positionZ, self.perspective) = (newValue.positionZ, newValue.perspective)
            self.rotation = newValue.rotation.degrees
            (self.rotationX, self.rotationY) = (newValue.rotationX.degrees, newValue.rotationY.degrees)
            (self.scaleX, self.scaleY, self.opacity) = (newValue.scaleX, newValue.scaleY, newValue.opacity)
        }
    }
}
