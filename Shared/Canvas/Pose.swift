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

    /// A pose from its parts.
    public init(position: Point, rotation: Angle, scaleX: Double, scaleY: Double) {
        self.position = position
        self.rotation = rotation
        self.scaleX = scaleX
        self.scaleY = scaleY
    }

    /// The pose at `fraction` of the way to another (0 here, 1 there); angles take the shortest rotation.
    public func interpolated(to other: Pose, fraction: Double) -> Pose {
        if fraction == 1 { return other }
        return Pose(
            position: self.position.interpolated(to: other.position, fraction: fraction),
            rotation: self.rotation.interpolated(to: other.rotation, fraction: fraction),
            scaleX: self.scaleX + (other.scaleX - self.scaleX) * fraction,
            scaleY: self.scaleY + (other.scaleY - self.scaleY) * fraction)
    }
}
