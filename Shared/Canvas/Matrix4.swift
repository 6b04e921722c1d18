/// A map of space with perspective: (x, y, z, 1) goes to a vector whose first three numbers are divided by the fourth.
/// Its 16 numbers are in the order of CSS's `matrix3d()` and of CATransform3D: m11, m12, … m44.
///
///     let m = element.projection().elements
///     layer.transform = CATransform3D(m11: m[0], m12: m[1], …, m44: m[15])
public struct Matrix4: Equatable, Sendable {
    /// The images of the axes and of the origin.
    var x, y, z, origin: SIMD4<Double>

    /// The map that changes nothing.
    public static let identity = Matrix4(
        x: SIMD4(1, 0, 0, 0), y: SIMD4(0, 1, 0, 0), z: SIMD4(0, 0, 1, 0), origin: SIMD4(0, 0, 0, 1))

    init(x: SIMD4<Double>, y: SIMD4<Double>, z: SIMD4<Double>, origin: SIMD4<Double>) {
        (self.x, self.y, self.z, self.origin) = (x, y, z, origin)
    }

    /// m11 to m44.
    public var elements: [Double] {
        [self.x, self.y, self.z, self.origin].flatMap { [$0.x, $0.y, $0.z, $0.w] }
    }

    /// A map of the plane, which leaves z as it is.
    public init(_ map: AffineMatrix) {
        self = .identity
        (self.x.x, self.x.y, self.y.x, self.y.y) = (map.a, map.b, map.c, map.d)
        (self.origin.x, self.origin.y) = (map.tx, map.ty)
    }

    // MARK: The functions of CSS, see CSS Transforms 2, 13.1, "Mathematical description of transform functions"

    /// `translate3d()`.
    public static func translation(_ displacement: Point, z: Double = 0) -> Matrix4 {
        var map = Matrix4.identity
        map.origin = SIMD4(displacement.x, displacement.y, z, 1)
        return map
    }

    /// `rotateX()`: brings the lower half nearer.
    public static func rotationX(_ angle: Angle) -> Matrix4 {
        let (sine, cosine) = angle.sineAndCosine
        var map = Matrix4.identity
        map.y = SIMD4(0, cosine, sine, 0)
        map.z = SIMD4(0, -sine, cosine, 0)
        return map
    }

    /// `rotateY()`: brings the left half nearer.
    public static func rotationY(_ angle: Angle) -> Matrix4 {
        let (sine, cosine) = angle.sineAndCosine
        var map = Matrix4.identity
        map.x = SIMD4(cosine, 0, -sine, 0)
        map.z = SIMD4(sine, 0, cosine, 0)
        return map
    }

    /// `perspective()`: what is nearer to the viewer, who looks at the origin from a distance in pixels, is larger; 0 is
    /// infinitely far.
    public static func perspective(_ distance: Double) -> Matrix4 {
        var map = Matrix4.identity
        if distance != 0 { map.z.w = -1 / distance }
        return map
    }

    // MARK: -

    /// This map followed by another one.
    public func followed(by next: Matrix4) -> Matrix4 {
        Matrix4(
            x: next.image(of: self.x), y: next.image(of: self.y), z: next.image(of: self.z),
            origin: next.image(of: self.origin))
    }

    private func image(of vector: SIMD4<Double>) -> SIMD4<Double> {
        self.x * vector.x + self.y * vector.y + self.z * vector.z + self.origin * vector.w
    }

    /// The inverse map; nil when this one is singular or overflows.
    ///
    /// By Cramer's rule, with the 2 × 2 minors of the upper and the lower half shared: D. Eberly, "The Laplace Expansion
    /// Theorem: Computing the Determinants and Inverses of Matrices", section 4.
    public var inverse: Matrix4? {
        let (upper, lower, determinant) = (self.upper, self.lower, self.determinant)
        guard determinant != 0, determinant.isFinite else { return nil }
        let (a, b, c, d) = (self.x, self.y, self.z, self.origin)
        let inverse = Matrix4(
            x: SIMD4(
                b.y * lower.zw - b.z * lower.yw + b.w * lower.yz, -a.y * lower.zw + a.z * lower.yw - a.w * lower.yz,
                d.y * upper.zw - d.z * upper.yw + d.w * upper.yz, -c.y * upper.zw + c.z * upper.yw - c.w * upper.yz)
                / determinant,
            y: SIMD4(
                -b.x * lower.zw + b.z * lower.xw - b.w * lower.xz, a.x * lower.zw - a.z * lower.xw + a.w * lower.xz,
                -d.x * upper.zw + d.z * upper.xw - d.w * upper.xz, c.x * upper.zw - c.z * upper.xw + c.w * upper.xz)
                / determinant,
            z: SIMD4(
                b.x * lower.yw - b.y * lower.xw + b.w * lower.xy, -a.x * lower.yw + a.y * lower.xw - a.w * lower.xy,
                d.x * upper.yw - d.y * upper.xw + d.w * upper.xy, -c.x * upper.yw + c.y * upper.xw - c.w * upper.xy)
                / determinant,
            origin: SIMD4(
                -b.x * lower.yz + b.y * lower.xz - b.z * lower.xy, a.x * lower.yz - a.y * lower.xz + a.z * lower.xy,
                -d.x * upper.yz + d.y * upper.xz - d.z * upper.xy, c.x * upper.yz - c.y * upper.xz + c.z * upper.xy)
                / determinant)
        return inverse.elements.allSatisfy(\.isFinite) ? inverse : nil
    }

    var determinant: Double { self.upper.product(with: self.lower) }

    private var upper: Minors { Minors(self.x, self.y) }
    private var lower: Minors { Minors(self.z, self.origin) }

    /// The 2 × 2 determinants of two columns, by the rows that they are of.
    private struct Minors {
        let xy, xz, xw, yz, yw, zw: Double

        init(_ a: SIMD4<Double>, _ b: SIMD4<Double>) {
            (self.xy, self.xz, self.xw) = (a.x * b.y - a.y * b.x, a.x * b.z - a.z * b.x, a.x * b.w - a.w * b.x)
            (self.yz, self.yw, self.zw) = (a.y * b.z - a.z * b.y, a.y * b.w - a.w * b.y, a.z * b.w - a.w * b.z)
        }

        func product(with other: Minors) -> Double {
            self.xy * other.zw - self.xz * other.yw + self.xw * other.yz + self.yz * other.xw - self.yw * other.xz
                + self.zw * other.xy
        }
    }
}
