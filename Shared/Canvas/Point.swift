/// A position or a displacement, in pixels unless documented otherwise; x to the right, y down.
public struct Point: Equatable, Sendable {
    /// To the right.
    public var x: Double
    /// Down.
    public var y: Double

    /// The origin.
    public static let zero = Point(x: 0, y: 0)

    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Componentwise sum.
    public static func + (left: Point, right: Point) -> Point { Point(x: left.x + right.x, y: left.y + right.y) }

    /// Componentwise difference.
    public static func - (left: Point, right: Point) -> Point { Point(x: left.x - right.x, y: left.y - right.y) }

    /// Both components times a factor.
    public static func * (point: Point, factor: Double) -> Point { Point(x: point.x * factor, y: point.y * factor) }

    /// Whether both coordinates are finite.
    public var isFinite: Bool { self.x.isFinite && self.y.isFinite }

    /// The point rotated clockwise about the origin.
    public func rotated(by angle: Angle) -> Point {
        let (sine, cosine) = angle.sineAndCosine
        return Point(x: self.x * cosine - self.y * sine, y: self.x * sine + self.y * cosine)
    }

    /// The point at `fraction` of the straight line to another one (0 here, 1 there).
    public func interpolated(to other: Point, fraction: Double) -> Point {
        Point(
            x: Canvas.interpolated(from: self.x, to: other.x, fraction: fraction),
            y: Canvas.interpolated(from: self.y, to: other.y, fraction: fraction))
    }
}

/// The number at `fraction` of the way between two others (0 at the first, 1 at the second).
func interpolated(from start: Double, to end: Double, fraction: Double) -> Double {
    if fraction == 1 { return end }
    let way = end - start
    // Between numbers of opposite sign near the largest ones only the difference overflows.
    return way.isFinite ? start + way * fraction : start * (1 - fraction) + end * fraction
}
