extension Element {
    /// What of the element is seen at a point of the canvas, in its own pixels at scale 1; nil for an element that is
    /// seen edge-on, or lies there behind the viewer. Not finite for a flat element of scale 0. For an annotation the
    /// point is in the parent's own pixels.
    public func ownPoint(fromCanvas point: Point, parentSize: Size? = nil) -> Point? {
        guard self.isFlat else { return self.projection(parentSize: parentSize).unprojected(point) }
        let arm = (point - self.position(in: parentSize)).rotated(by: Angle(degrees: -self.rotation))
        return Point(
            x: arm.x / self.scaleX + self.anchorX * self.originalWidth,
            y: arm.y / self.scaleY + self.anchorY * self.originalHeight)
    }

    /// The anchor under a point of the canvas, such as the one between two fingers; nil if it is not finite. For an
    /// annotation the point is in the parent's own pixels.
    public func anchor(under point: Point, parentSize: Size? = nil) -> Point? {
        let area = Rect(x: 0, y: 0, width: self.originalWidth, height: self.originalHeight)
        return self.ownPoint(fromCanvas: point, parentSize: parentSize).flatMap(area.anchor(at:))
    }

    /// Whether a point of the canvas is on the element as it is seen; the edges are. `tolerance` widens it on all sides, in
    /// pixels of the canvas: a finger is less precise than a pointer. For an annotation the point is in the parent's own
    /// pixels. Nothing is on an element of scale 0, or on one that is seen edge-on or behind the viewer.
    public func contains(_ point: Point, tolerance: Double = 0, parentSize: Size? = nil) -> Bool {
        guard self.scaleX != 0, self.scaleY != 0,
            let own = self.ownPoint(fromCanvas: point, parentSize: parentSize)
        else { return false }
        let stretch = self.stretch(at: own, parentSize: parentSize)
        let (marginX, marginY) = (tolerance / stretch.x, tolerance / stretch.y)
        return own.x >= -marginX && own.x <= self.originalWidth + marginX && own.y >= -marginY
            && own.y <= self.originalHeight + marginY
    }

    /// How many pixels of the canvas an own pixel is wide and high, where the element is nearest to a point of its plane.
    private func stretch(at own: Point, parentSize: Size?) -> Point {
        if self.isFlat { return Point(x: self.scaleX.magnitude, y: self.scaleY.magnitude) }
        let nearest = Point(x: clamped(own.x, 0, self.originalWidth), y: clamped(own.y, 0, self.originalHeight))
        return self.projection(parentSize: parentSize).stretch(at: nearest)
    }
}

// MARK: - Annotations on the canvas

extension Element {
    /// The smallest axis-aligned rectangle of the canvas around what is seen of an annotation of a parent; the parent's
    /// anchor if it is behind the viewer.
    public func boundingBox(on parent: Element) -> Rect {
        guard self.space == .normalized else { return self.boundingBox() }
        return Rect(around: PlaneMap(of: self, on: parent).corners(of: self.originalSize), or: parent.position(in: nil))
    }

    /// Whether a point of the canvas is on an annotation of a parent; see `contains(_:tolerance:parentSize:)`. The
    /// tolerance is in the parent's own pixels.
    public func contains(_ point: Point, on parent: Element, tolerance: Double = 0) -> Bool {
        guard self.space == .normalized else { return self.contains(point, tolerance: tolerance) }
        return parent.ownPoint(fromCanvas: point).map {
            self.contains($0, tolerance: tolerance, parentSize: parent.originalSize)
        } ?? false
    }
}
