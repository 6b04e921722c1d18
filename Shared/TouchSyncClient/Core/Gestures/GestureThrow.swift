public import Canvas

/// How fingers throw what they let go of.
public struct GestureThrow: Equatable, Sendable {
    /// Pixels a second, of annotations fractions of their parent; nil: as fast as the fingers were in their last 100 ms.
    public var velocity: Point?
    /// Everything else; its velocity does not count.
    public var request = Throw(velocity: .zero)

    /// A throw with the normal rate and bounce.
    public init(velocity: Point? = nil) {
        self.velocity = velocity
    }

    /// Fingers throw what they let go of faster than this, pixels a second.
    static let least = 50.0
}

/// Where fingers were lately.
struct FingerTrail: Sendable {
    /// Their velocity is that of so long a time, ms.
    private static let length: Int64 = 100

    private struct Spot: Sendable {
        let time: Int64
        let point: Point
    }

    private var spots: [Spot]

    init(at now: Int64) {
        self.spots = [Spot(time: now, point: .zero)]
    }

    /// They are this far from where they touched.
    mutating func moved(to point: Point, at now: Int64) {
        self.spots.removeAll { $0.time < now - Self.length }
        self.spots.append(Spot(time: now, point: point))
    }

    /// Their velocity, pixels a second, if they are this far from where they touched.
    func velocity(at end: Point, now: Int64) -> Point {
        guard let start = self.spots.first(where: { $0.time >= now - Self.length }) else { return .zero }
        let ms = Double(max(now - start.time, 1))
        return Point(x: (end.x - start.point.x) * 1000 / ms, y: (end.y - start.point.y) * 1000 / ms)
    }
}
