/// What becomes of the plane z = 0, in which an element has its pixels.
extension Matrix4 {
    /// The near plane: what is nearer to the viewer than a hundredth of the way from the canvas is not seen.
    static let nearest = 0.01

    /// Where a point of the plane is seen; nil if it lies before the near plane or behind the viewer.
    public func projected(_ point: Point) -> Point? {
        let seen = self.homogeneous(point)
        return seen.w >= Self.nearest ? seen.place : nil
    }

    /// The point of the plane that is seen at a point of the canvas; nil if the plane is seen edge-on, or lies there before
    /// the near plane.
    ///
    /// With (X, Y, W) = A·p + b for the point p of the plane, X = x·W and Y = y·W are two linear equations for p.
    public func unprojected(_ point: Point) -> Point? {
        let (a, c) = (self.x.x - point.x * self.x.w, self.y.x - point.x * self.y.w)
        let (b, d) = (self.x.y - point.y * self.x.w, self.y.y - point.y * self.y.w)
        let (e, f) = (point.x * self.origin.w - self.origin.x, point.y * self.origin.w - self.origin.y)
        let determinant = a * d - b * c
        let own = Point(x: (d * e - c * f) / determinant, y: (a * f - b * e) / determinant)
        guard own.isFinite, self.homogeneous(own).w >= Self.nearest else { return nil }
        return own
    }

    /// Whether the viewer looks at the back of the plane; a mirror in the plane turns nothing round. As CSS decides it for
    /// `backface-visibility`: by the z of the plane's normal, which the inverse transpose carries along.
    public var showsBack: Bool {
        let cofactor =
            self.x.x * (self.y.y * self.origin.w - self.y.w * self.origin.y)
            - self.y.x * (self.x.y * self.origin.w - self.x.w * self.origin.y)
            + self.origin.x * (self.x.y * self.y.w - self.x.w * self.y.y)
        return cofactor * self.determinant < 0
    }

    /// The corners of what is seen of a rectangle of the plane whose top left corner is the origin: the images of its four,
    /// in their order, unless the near plane cuts some off; none if nothing is seen.
    ///
    /// Cut as by I. E. Sutherland and G. W. Hodgman, "Reentrant Polygon Clipping", before the division.
    package func corners(of size: Size) -> [Point] {
        let corners = [
            Point.zero, Point(x: size.width, y: 0), Point(x: size.width, y: size.height), Point(x: 0, y: size.height),
        ].map(self.homogeneous)
        var seen: [Point] = []
        for (index, corner) in corners.enumerated() {
            let next = corners[(index + 1) % corners.count]
            if corner.w >= Self.nearest { seen.append(corner.place) }
            guard (corner.w >= Self.nearest) != (next.w >= Self.nearest) else { continue }
            let share = (Self.nearest - corner.w) / (next.w - corner.w)
            seen.append(
                Homogeneous(
                    x: corner.x + (next.x - corner.x) * share, y: corner.y + (next.y - corner.y) * share,
                    w: Self.nearest
                ).place)
        }
        return seen
    }

    /// How long the images of short ways along x and along y are at a point of the plane, by the derivatives of x / w and
    /// y / w.
    func stretch(at point: Point) -> Point {
        let seen = self.homogeneous(point)
        func length(_ axis: SIMD4<Double>) -> Double {
            let (x, y) = (axis.x - seen.place.x * axis.w, axis.y - seen.place.y * axis.w)
            return (x * x + y * y).squareRoot() / seen.w.magnitude
        }
        return Point(x: length(self.x), y: length(self.y))
    }

    /// The image of a point of the plane before the division by w.
    private func homogeneous(_ point: Point) -> Homogeneous {
        Homogeneous(
            x: self.x.x * point.x + self.y.x * point.y + self.origin.x,
            y: self.x.y * point.x + self.y.y * point.y + self.origin.y,
            w: self.x.w * point.x + self.y.w * point.y + self.origin.w)
    }

    private struct Homogeneous {
        let x, y, w: Double

        var place: Point { Point(x: self.x / self.w, y: self.y / self.w) }
    }
}
