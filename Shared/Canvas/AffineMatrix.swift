/// An affine map of the plane: x' = a·x + c·y + tx, y' = b·x + d·y + ty. The coefficients are those of CGAffineTransform,
/// in its order:
///
///     let map = element.matrix()
///     layer.setAffineTransform(CGAffineTransform(a: map.a, b: map.b, c: map.c, d: map.d, tx: map.tx, ty: map.ty))
public struct AffineMatrix: Equatable, Sendable {
    /// Coefficients as in the type's formula.
    public var a, b, c, d, tx, ty: Double

    /// The map that changes nothing.
    public static let identity = AffineMatrix(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

    public init(a: Double, b: Double, c: Double, d: Double, tx: Double, ty: Double) {
        (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
    }

    /// Scale, then rotate clockwise, then translate, all about `anchor`, which lands on `position`:
    /// p ↦ position + R·S·(p − anchor).
    public init(scaleX: Double, scaleY: Double, rotation: Angle, anchor: Point, position: Point) {
        let (sine, cosine) = rotation.sineAndCosine
        self.init(a: scaleX * cosine, b: scaleX * sine, c: -scaleY * sine, d: scaleY * cosine, tx: 0, ty: 0)
        let moved = position - self.applied(to: anchor)
        (self.tx, self.ty) = (moved.x, moved.y)
    }

    /// The image of a point.
    public func applied(to point: Point) -> Point {
        Point(x: self.a * point.x + self.c * point.y + self.tx, y: self.b * point.x + self.d * point.y + self.ty)
    }

    /// This map followed by another one.
    public func followed(by next: AffineMatrix) -> AffineMatrix {
        AffineMatrix(
            a: next.a * self.a + next.c * self.b, b: next.b * self.a + next.d * self.b,
            c: next.a * self.c + next.c * self.d, d: next.b * self.c + next.d * self.d,
            tx: next.a * self.tx + next.c * self.ty + next.tx, ty: next.b * self.tx + next.d * self.ty + next.ty)
    }

    /// The inverse map; nil when this one is singular or overflows.
    public var inverse: AffineMatrix? {
        let determinant = self.a * self.d - self.b * self.c
        guard determinant != 0, determinant.isFinite else { return nil }
        let (a, b) = (self.d / determinant, -self.b / determinant)
        let (c, d) = (-self.c / determinant, self.a / determinant)
        let inverse = AffineMatrix(
            a: a, b: b, c: c, d: d, tx: -(a * self.tx + c * self.ty), ty: -(b * self.tx + d * self.ty))
        let isFinite = [a, b, c, d, inverse.tx, inverse.ty].allSatisfy(\.isFinite)
        return isFinite ? inverse : nil
    }
}
