/// A rectangle on the canvas, pixels, y pointing down.
package struct CanvasBox: Equatable, Sendable {
    /// Its sides.
    package var left: Double, top: Double, right: Double, bottom: Double

    /// A rectangle between sides.
    package init(left: Double, top: Double, right: Double, bottom: Double) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
    }

    /// A rectangle from its left, top, right and bottom side; nil unless these are four in order.
    init?(sides: [Double]) {
        guard sides.count == 4, sides[0] <= sides[2], sides[1] <= sides[3] else { return nil }
        self.init(left: sides[0], top: sides[1], right: sides[2], bottom: sides[3])
    }

    /// Left, top, right and bottom side.
    var sides: [Double] { [self.left, self.top, self.right, self.bottom] }

    /// The smallest one that contains both.
    func union(_ other: CanvasBox) -> CanvasBox {
        CanvasBox(
            left: min(self.left, other.left), top: min(self.top, other.top), right: max(self.right, other.right),
            bottom: max(self.bottom, other.bottom))
    }

    /// True when nothing of the other one is outside.
    func contains(_ other: CanvasBox) -> Bool {
        self.left <= other.left && self.top <= other.top && other.right <= self.right && other.bottom <= self.bottom
    }

    /// True when the other one is beyond doubt out of sight of an app that sees this one: outside it, its margin of a
    /// tenth of the larger side, and a pixel more for the rounding of boxes.
    func isOutOfSight(_ other: CanvasBox) -> Bool {
        let margin = max(self.right - self.left, self.bottom - self.top) / 10 + 1
        return other.right < self.left - margin || other.left > self.right + margin
            || other.bottom < self.top - margin || other.top > self.bottom + margin
    }
}
