/// A direction or rotation. Degrees run clockwise (the y axis points down) and are normalised to [0, 360). Drawing code
/// in clients needs radians; only this type converts between the two.
public struct Angle: Equatable, Sendable {
    /// Clockwise degrees in [0, 360), never −0.
    public let degrees: Double

    /// 0°.
    public static let zero = Angle(degrees: 0)

    /// The angle of any finite number of degrees; other values count as 0.
    public init(degrees: Double) {
        self.degrees = Self.normalized(degrees)
    }

    /// The angle of any finite number of radians, clockwise; other values count as 0.
    public init(radians: Double) {
        let degrees = radians * (180 / Double.pi)
        // Of the largest numbers only the product overflows, not the angle.
        self.init(
            degrees: degrees.isFinite
                ? degrees : radians.truncatingRemainder(dividingBy: 2 * Double.pi) * (180 / Double.pi))
    }

    /// Clockwise radians in [0, 2π).
    public var radians: Double { self.degrees * (Double.pi / 180) }

    /// The angle after a rotation by some degrees, clockwise if positive.
    public func turned(by degrees: Double) -> Angle { Angle(degrees: self.degrees + degrees) }

    /// The shortest rotation to another angle: degrees in (−180, 180], positive clockwise.
    ///
    ///     Angle(degrees: 350).shortestTurn(to: Angle(degrees: 10))  // 20
    public func shortestTurn(to other: Angle) -> Double {
        let turn = other.degrees - self.degrees
        if turn > 180 { return turn - 360 }
        return turn <= -180 ? turn + 360 : turn
    }

    /// The angle at `fraction` of the shortest rotation to another one (0 here, 1 there).
    public func interpolated(to other: Angle, fraction: Double) -> Angle {
        if fraction == 1 { return other }
        return Angle(degrees: self.degrees + self.shortestTurn(to: other) * fraction)
    }

    /// The nearest multiple of `step` degrees on the circle, halves upwards. 360 counts as a multiple (it is 0) even
    /// when `step` does not divide it. A step outside (0, 180] or too small to be representable has no effect.
    public func snapped(to step: Double) -> Angle {
        guard step > 0, step <= 180 else { return self }
        let ratio = self.degrees / step
        // Beyond this the step is below the double's precision (and a subnormal step would overflow).
        guard ratio < 1e12 else { return self }
        let multiple = ratio.rounded() * step
        guard multiple < 360 else {
            let below = (ratio.rounded() - 1) * step
            return 360 - self.degrees <= self.degrees - below ? .zero : Angle(degrees: below)
        }
        return 360 - self.degrees <= self.degrees - multiple ? .zero : Angle(degrees: multiple)
    }

    /// The angle itself if it lies on an arc from one angle clockwise to another, else the nearer end of the arc, the
    /// lower one of equals.
    /// - Parameter arc: degrees, at most 360 long.
    func clamped(to arc: ClosedRange<Double>) -> Angle {
        let past = Self.normalized(self.degrees - arc.lowerBound)
        let length = arc.upperBound - arc.lowerBound
        guard past > length else { return self }
        return Angle(degrees: 360 - past <= past - length ? arc.lowerBound : arc.upperBound)
    }

    /// Degrees normalised to [0, 360): 360 → 0, −90 → 270, −0 → 0.
    static func normalized(_ degrees: Double) -> Double {
        guard degrees.isFinite else { return 0 }
        if degrees >= 0, degrees < 360 { return degrees + 0 }
        var rest = degrees.truncatingRemainder(dividingBy: 360)
        if rest < 0 { rest += 360 }
        // −1e−20 + 360 is 360.
        return rest >= 360 ? 0 : rest + 0
    }
}
