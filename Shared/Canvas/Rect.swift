/// A width and a height in pixels.
public struct Size: Equatable, Sendable {
    /// To the right.
    public var width: Double
    /// Down.
    public var height: Double

    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// Whether both sides are finite and above zero, so that they are valid divisors.
    public var isUsable: Bool {
        self.width > 0 && self.height > 0 && self.width.isFinite && self.height.isFinite
    }

    /// The centre of a rectangle of this size whose top left corner is the origin.
    public var center: Point { Point(x: self.width / 2, y: self.height / 2) }
}

/// An axis-aligned rectangle, including its edges.
public struct Rect: Equatable, Sendable {
    /// The corner with the smallest x and y.
    public var origin: Point
    /// Its extent; never negative when created by this library.
    public var size: Size

    /// A rectangle from its top left corner and size.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.origin = Point(x: x, y: y)
        self.size = Size(width: width, height: height)
    }

    /// The smallest axis-aligned rectangle around some points; zero when there are none.
    public init(around points: some Collection<Point>) {
        guard let first = points.first else {
            self.init(x: 0, y: 0, width: 0, height: 0)
            return
        }
        var (low, high) = (first, first)
        for point in points {
            low = Point(x: min(low.x, point.x), y: min(low.y, point.y))
            high = Point(x: max(high.x, point.x), y: max(high.y, point.y))
        }
        self.init(x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y)
    }

    /// The same; of no points the one in which everything disappears.
    init(around points: [Point], or vanishingPoint: Point) {
        self.init(around: points.isEmpty ? [vanishingPoint] : points)
    }

    /// The corner with the largest x and y.
    public var end: Point { Point(x: self.origin.x + self.size.width, y: self.origin.y + self.size.height) }

    /// The centre.
    public var center: Point { self.origin.interpolated(to: self.end, fraction: 0.5) }

    /// Whether it contains a point, edges included.
    public func contains(_ point: Point) -> Bool {
        let end = self.end
        return point.x >= self.origin.x && point.x <= end.x && point.y >= self.origin.y && point.y <= end.y
    }

    /// Whether its corners and sides are finite.
    public var isFinite: Bool {
        self.origin.isFinite && self.end.isFinite && self.size.width.isFinite && self.size.height.isFinite
    }

    /// The rectangle grown by a margin on every side.
    public func expanded(by margin: Double) -> Rect {
        Rect(
            x: self.origin.x - margin, y: self.origin.y - margin, width: self.size.width + 2 * margin,
            height: self.size.height + 2 * margin)
    }

    /// The rectangle grown on every side by a fraction of its larger side.
    public func expanded(byFractionOfLargerSide fraction: Double) -> Rect {
        self.expanded(by: fraction * max(self.size.width, self.size.height))
    }
}
