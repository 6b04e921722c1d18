/// What a hand asks for that lets go of elements in motion: how fast they are, and where they may come to rest.
public struct Throw: Equatable, Sendable {
    /// Pixels a second; of an annotation fractions of its parent a second.
    public var velocity: Point
    /// Clockwise degrees a second; nil: the rotation is not thrown.
    public var angularVelocity: Double?
    /// The share of the speed that is left after a ms, in `Decay.rates`.
    public var rate = 0.998
    /// The share of the speed with which a wall is left, 0…1.
    public var bounce = 0.3
    /// What moves the place where it would come to rest.
    public var snap: Snap?

    /// A throw with the normal rate and bounce.
    public init(velocity: Point, angularVelocity: Double? = nil) {
        self.velocity = velocity
        self.angularVelocity = angularVelocity
    }

    /// Points and lines at which thrown elements come to rest, in the unit of their positions.
    public struct Snap: Equatable, Sendable {
        /// The steps between lines, above 0; nil: no lines across this axis.
        public var gridX, gridY: Double?
        /// They win over the lines, 64 at most.
        public var points: [Point] = []
        /// How far points draw; nil: from anywhere.
        public var within: Double?

        /// No points and no lines.
        public init() {}

        /// Where something comes to rest instead of at a place: at the nearest point within reach, the first of equals,
        /// else on the nearest lines.
        func place(near place: Point) -> Point {
            var nearest: (point: Point, distance: Double)?
            for point in self.points {
                let way = point - place
                let distance = (way.x * way.x + way.y * way.y).squareRoot()
                if nearest.map({ distance < $0.distance }) ?? true { nearest = (point, distance) }
            }
            if let nearest, nearest.distance <= self.within ?? .infinity { return nearest.point }
            func line(_ step: Double?, _ value: Double) -> Double {
                step.map { GridLines(step: $0, offset: 0).nearest(to: value) } ?? value
            }
            return Point(x: line(self.gridX, place.x), y: line(self.gridY, place.y))
        }
    }
}
