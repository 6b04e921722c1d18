internal import Canvas

extension Element {
    /// Checks the ranges that hold for every stored element, whatever the rules of its type are: apps count on them.
    /// - Throws: the first field that is out of its range.
    func checkStorable() throws(FieldError) {
        for (name, text) in [("createdBy", self.createdBy), ("updatedBy", self.updatedBy)]
        where !(1...256).contains(text.utf8.count) {
            throw FieldError(field: name, message: "It has 1 to 256 bytes.")
        }
        // Beyond it JavaScript does not tell one number from the next.
        guard (1..<1 << 53).contains(self.rev) else {
            throw FieldError(field: "rev", message: "It is from 1 to 9007199254740991.")
        }
        for (name, value, range) in self.ranges where !range.contains(value) {
            throw FieldError(field: name, message: "It is from \(range.lowerBound) to \(range.upperBound).")
        }
        if self.rotation >= 360 { throw FieldError(field: "rotation", message: "It is below 360.") }
        if let step = self.snapDegrees, !(step > 0 && step <= CanvasLimits.snapDegrees) {
            throw FieldError(field: "snapDegrees", message: "It is above 0 and at most 180.")
        }
        if self.space == .canvas,
            self.positionX != self.positionX.rounded() || self.positionY != self.positionY.rounded()
        {
            throw FieldError(field: "positionX", message: "A position on the canvas is in whole pixels.")
        }
    }

    private var ranges: [(name: String, value: Double, range: ClosedRange<Double>)] {
        let position = self.space == .canvas ? -CanvasLimits.position...CanvasLimits.position : 0...1
        var ranges = [
            ("positionX", self.positionX, position), ("positionY", self.positionY, position),
            ("rotation", self.rotation, 0...360), ("scaleX", self.scaleX, -1e10...1e10),
            ("scaleY", self.scaleY, -1e10...1e10), ("originalWidth", self.originalWidth, 0...1e12),
            ("originalHeight", self.originalHeight, 0...1e12), ("anchorX", self.anchorX, -1e9...1e9),
            ("anchorY", self.anchorY, -1e9...1e9),
        ]
        if let bounds = self.bounds {
            ranges += [
                ("bounds.x", bounds.x, -1e12...1e12), ("bounds.y", bounds.y, -1e12...1e12),
                ("bounds.width", bounds.width, 0...1e12), ("bounds.height", bounds.height, 0...1e12),
            ]
        }
        return ranges
    }
}
