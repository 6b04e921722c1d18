extension Element {
    /// A point of the canvas in the element's own pixels at scale 1: the inverse of `matrix(parentSize:)`. Not finite
    /// for an element of scale 0. For an annotation the point is in the parent's own pixels.
    public func ownPoint(fromCanvas point: Point, parentSize: Size? = nil) -> Point {
        let arm = (point - self.position(in: parentSize)).rotated(by: Angle(degrees: -self.rotation))
        return Point(
            x: arm.x / self.scaleX + self.anchorX * self.originalWidth,
            y: arm.y / self.scaleY + self.anchorY * self.originalHeight)
    }

    /// The anchor under a point of the canvas, such as the one between two fingers; nil if it is not finite. For an
    /// annotation the point is in the parent's own pixels.
    public func anchor(under point: Point, parentSize: Size? = nil) -> Point? {
        let own = self.ownPoint(fromCanvas: point, parentSize: parentSize)
        return Rect(x: 0, y: 0, width: self.originalWidth, height: self.originalHeight).anchor(at: own)
    }

    /// Whether a point of the canvas is on the element as it is drawn, rotated and mirrored; the edges are. `tolerance`
    /// widens it on all sides, in pixels of the canvas: a finger is less precise than a pointer. For an annotation the
    /// point is in the parent's own pixels. Nothing is on an element of scale 0.
    public func contains(_ point: Point, tolerance: Double = 0, parentSize: Size? = nil) -> Bool {
        guard self.scaleX != 0, self.scaleY != 0 else { return false }
        let own = self.ownPoint(fromCanvas: point, parentSize: parentSize)
        let (marginX, marginY) = (tolerance / self.scaleX.magnitude, tolerance / self.scaleY.magnitude)
        return own.x >= -marginX && own.x <= self.originalWidth + marginX && own.y >= -marginY
            && own.y <= self.originalHeight + marginY
    }
}

// MARK: - Annotations on the canvas

extension Element {
    /// Maps the own pixels of an annotation to the canvas on which its parent lies. The parent of an element in canvas
    /// space does not matter.
    public func matrix(on parent: Element) -> AffineMatrix {
        guard self.space == .normalized else { return self.matrix() }
        return self.matrix(parentSize: parent.originalSize).followed(by: parent.matrix())
    }

    /// The smallest axis-aligned rectangle of the canvas around an annotation of a parent.
    public func boundingBox(on parent: Element) -> Rect {
        Rect(around: self.corners(under: self.matrix(on: parent)))
    }

    /// Whether a point of the canvas is on an annotation of a parent; see `contains(_:tolerance:parentSize:)`. The
    /// tolerance is in the parent's own pixels.
    public func contains(_ point: Point, on parent: Element, tolerance: Double = 0) -> Bool {
        guard self.space == .normalized else { return self.contains(point, tolerance: tolerance) }
        return self.contains(
            parent.ownPoint(fromCanvas: point), tolerance: tolerance, parentSize: parent.originalSize)
    }
}
