import Canvas

extension RulesTable {
    /// Applies a gesture to an element as it is to be drawn while fingers are down: within the rules, but with a position
    /// that is not rounded, so that the element follows the fingers.
    func draw(_ gesture: Gesture, on element: inout Element, pivot: Point?, parentSize: Size?) {
        // Fractions of a parent are not rounded anyway.
        guard element.space == .canvas else {
            _ = self.apply(gesture, to: &element, pivot: pivot, parentSize: parentSize)
            return
        }
        let held = gesture.anchor.flatMap { element.anchored(at: $0) } ?? element
        let fields = gesture.fields(on: held, pivot: pivot)
        let drawn = Point(x: fields.positionX ?? held.positionX, y: fields.positionY ?? held.positionY)
        let (old, bounds) = (Point(x: element.positionX, y: element.positionY), element.bounds)
        let constraints = element.constraints
        element = held
        _ = self.apply(fields.shape, to: &element)
        // What the gesture does not move stays where it is, even where the rules would not allow it any more.
        // What constraints ignore goes with the anchor alone.
        if gesture.anchor != nil || drawn.x != old.x, drawn.x.isFinite {
            let isHeld = constraints?.axis == .y
            element.positionX = Self.coordinate(
                isHeld ? held.positionX : drawn.x, edge: bounds?.x, extent: bounds?.width,
                lines: isHeld ? nil : constraints?.linesX)
        }
        if gesture.anchor != nil || drawn.y != old.y, drawn.y.isFinite {
            let isHeld = constraints?.axis == .x
            element.positionY = Self.coordinate(
                isHeld ? held.positionY : drawn.y, edge: bounds?.y, extent: bounds?.height,
                lines: isHeld ? nil : constraints?.linesY)
        }
    }

    /// A coordinate on a line of the grid, within the canvas, then within the bounds, in pixels.
    private static func coordinate(_ pixels: Double, edge: Double?, extent: Double?, lines: GridLines?) -> Double {
        func inside(_ value: Double) -> Double {
            let value = min(max(value, -CanvasLimits.position), CanvasLimits.position)
            guard let edge, let extent else { return value }
            return min(max(value, edge), edge + extent)
        }
        return lines.map { inside($0.nearest(to: inside(pixels))) } ?? inside(pixels)
    }
}
