public import Canvas

extension ByteWriter {
    /// A point: two doubles.
    public mutating func point(_ point: Point) {
        self.double(point.x)
        self.double(point.y)
    }

    /// A gesture: translation, scale x and y, rotation, and which points follow: 1 a tilt, 2 an anchor.
    public mutating func gesture(_ gesture: Gesture) {
        self.point(gesture.translation)
        self.double(gesture.scaleX)
        self.double(gesture.scaleY)
        self.double(gesture.rotation)
        self.u8((gesture.tilt == .zero ? 0 : 1) | (gesture.anchor == nil ? 0 : 2))
        if gesture.tilt != .zero { self.point(gesture.tilt) }
        if let anchor = gesture.anchor { self.point(anchor) }
    }
}

extension ByteReader {
    /// Reads a point; one that is not finite is ill-formed.
    public mutating func point() -> Point {
        let x = self.finite()
        return Point(x: x, y: self.finite())
    }

    /// Reads a gesture; a value that is not finite is ill-formed.
    public mutating func gesture() -> Gesture {
        var gesture = Gesture()
        gesture.translation = self.point()
        gesture.scaleX = self.finite()
        gesture.scaleY = self.finite()
        gesture.rotation = self.finite()
        let points = self.u8()
        if points > 3 { self.fail() }
        if points & 1 != 0 { gesture.tilt = self.point() }
        if points & 2 != 0 { gesture.anchor = self.point() }
        return gesture
    }

    /// Reads a double; one that is not finite is ill-formed.
    mutating func finite() -> Double {
        let value = self.double()
        if value.isFinite { return value }
        self.fail()
        return 0
    }
}
