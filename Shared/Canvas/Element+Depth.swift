extension Element {
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
}
