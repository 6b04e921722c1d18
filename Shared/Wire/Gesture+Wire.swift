public import Canvas

extension ByteWriter {
    /// A point: two doubles.
    public mutating func point(_ point: Point) {
        self.double(point.x)
        self.double(point.y)
    }

    /// A gesture: translation, scale x and y, rotation, and whether an anchor follows.
    public mutating func gesture(_ gesture: Gesture) {
        self.point(gesture.translation)
        self.double(gesture.scaleX)
        self.double(gesture.scaleY)
        self.double(gesture.rotation)
        self.bool(gesture.anchor != nil)
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
        if self.bool() { gesture.anchor = self.point() }
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
