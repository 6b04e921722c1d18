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

    /// Whether all its numbers are finite.
    public var isFinite: Bool { self.position.isFinite && self.scaleX.isFinite && self.scaleY.isFinite }

    /// The pose at `fraction` of the way to another (0 here, 1 there); angles take the shortest rotation.
    public func interpolated(to other: Pose, fraction: Double) -> Pose {
        Pose(
            position: self.position.interpolated(to: other.position, fraction: fraction),
            rotation: self.rotation.interpolated(to: other.rotation, fraction: fraction),
            scaleX: Canvas.interpolated(from: self.scaleX, to: other.scaleX, fraction: fraction),
            scaleY: Canvas.interpolated(from: self.scaleY, to: other.scaleY, fraction: fraction))
    }
}
