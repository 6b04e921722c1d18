extension Element {
    /// Its size at scale 1, pixels.
    public var originalSize: Size { Size(width: self.originalWidth, height: self.originalHeight) }

    /// Maps the element's own pixels at scale 1 (origin at its top left corner) to the canvas, in its plane: `projection`
    /// has its depth. For an annotation pass the parent's original size: the result is then in the parent's own pixels.
    public func matrix(parentSize: Size? = nil) -> AffineMatrix {
        AffineMatrix(
            scaleX: self.scaleX, scaleY: self.scaleY, rotation: Angle(degrees: self.rotation),
            anchor: Point(x: self.anchorX * self.originalWidth, y: self.anchorY * self.originalHeight),
            position: self.position(in: parentSize))
    }

    /// Whether it looks as if it lay in the plane of the canvas: it is not tilted, and nearer to a viewer who is
    /// infinitely far nothing looks larger.
    public var isFlat: Bool {
        self.rotationX == 0 && self.rotationY == 0 && (self.positionZ == 0 || self.perspective == 0)
    }

    /// Maps the element's own pixels at scale 1 (origin at its top left corner) to the canvas, as it is seen with its
    /// depth: in the terms of CSS `translate(position) perspective(p) translateZ(z) rotateX(a) rotateY(b) rotateZ(c)
    /// scale(sx, sy)` about its anchor. For an annotation pass the parent's original size: the result is then in the
    /// parent's own pixels.
    public func projection(parentSize: Size? = nil) -> Matrix4 {
        let plane = AffineMatrix(
            scaleX: self.scaleX, scaleY: self.scaleY, rotation: Angle(degrees: self.rotation),
            anchor: Point(x: self.anchorX * self.originalWidth, y: self.anchorY * self.originalHeight), position: .zero)
        return Matrix4(plane)
            .followed(by: .rotationY(Angle(degrees: self.rotationY)))
            .followed(by: .rotationX(Angle(degrees: self.rotationX)))
            .followed(by: .translation(.zero, z: self.positionZ))
            .followed(by: .perspective(self.perspective))
            .followed(by: .translation(self.position(in: parentSize)))
    }

    /// Maps the own pixels of an annotation to the canvas, as they are seen on its parent. The parent of an element in
    /// canvas space does not matter.
    public func projection(on parent: Element) -> Matrix4 {
        guard self.space == .normalized else { return self.projection() }
        return self.projection(parentSize: parent.originalSize).followed(by: parent.projection())
    }

    /// The four corners as they are seen on the canvas: top left, top right, bottom right, bottom left in the unrotated
    /// element. Of an element that comes too near to the viewer they are the corners of the part that is seen, none if it
    /// is behind the viewer.
    public func corners(parentSize: Size? = nil) -> [Point] {
        PlaneMap(of: self, parentSize: parentSize).corners(of: self.originalSize)
    }

    /// The smallest axis-aligned rectangle around what is seen of it; its anchor if it is behind the viewer.
    public func boundingBox(parentSize: Size? = nil) -> Rect {
        Rect(around: self.corners(parentSize: parentSize), or: self.position(in: parentSize))
    }

    /// The position that keeps the element visually in place with another anchor, as if it were not tilted; not rounded, in
    /// the units of the element's position.
    public func position(withAnchor anchor: Point, parentSize: Size? = nil) -> Point {
        let point = Point(x: anchor.x * self.originalWidth, y: anchor.y * self.originalHeight)
        let moved = self.matrix(parentSize: parentSize).applied(to: point)
        let unit = self.unit(parentSize)
        return Point(x: moved.x / unit.width, y: moved.y / unit.height)
    }

    /// The element with another anchor, visually in place whatever its rotation and scale, if it is not tilted. The anchor
    /// is clamped to `CanvasLimits.anchor`, the position is not rounded. Nil unless the anchor is finite.
    ///
    ///     let held = element.anchored(at: AnchorPoint.topLeft.unitPoint)  // now rotates about its top left corner
    public func anchored(at anchor: Point, parentSize: Size? = nil) -> Element? {
        guard anchor.isFinite else { return nil }
        let range = CanvasLimits.anchor
        var moved = self
        moved.anchorX = clamped(anchor.x, range.lowerBound, range.upperBound)
        moved.anchorY = clamped(anchor.y, range.lowerBound, range.upperBound)
        let position = self.position(withAnchor: Point(x: moved.anchorX, y: moved.anchorY), parentSize: parentSize)
        (moved.positionX, moved.positionY) = (position.x, position.y)
        return moved
    }

    /// Where the anchor lies, in pixels of the canvas or of the parent.
    func position(in parentSize: Size?) -> Point {
        let unit = self.unit(parentSize)
        return Point(x: self.positionX * unit.width, y: self.positionY * unit.height)
    }

    /// Pixels per unit of position.
    private func unit(_ parentSize: Size?) -> Size {
        guard self.space == .normalized, let parentSize, parentSize.isUsable else { return Size(width: 1, height: 1) }
        return parentSize
    }
}
