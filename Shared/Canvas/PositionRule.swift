/// Applies the rules to one coordinate of a position.
struct PositionRule {
    /// The stored value, never −0.
    let stored: Double
    /// The last rule that changed it.
    let why: Adjustment.Why

    /// - Parameters:
    ///   - field: `positionX` or `positionY`.
    ///   - lines: those of the grid in this coordinate.
    init(_ sent: Double, _ field: ElementField, of element: Element, lines: GridLines?) {
        let space = element.space
        let (edge, extent) = Self.bounds(of: element, field)
        var why = Adjustment.Why.integer
        var value = sent
        if let lines {
            // What lies beyond the bounds counts as their edge, so that a stored value snaps to itself.
            let inside = Self.limited(sent, space, edge, extent, &why)
            value = Self.snapped(inside, space, lines)
            if value != inside { why = .constraint }
        }
        // On the canvas whole pixels, halves away from zero.
        if space == .canvas { value = value.rounded() }
        self.stored = Self.limited(value, space, edge, extent, &why) + 0
        self.why = why
    }

    /// The first and the last coordinate that a position may have.
    static func walls(of element: Element, _ field: ElementField) -> ClosedRange<Double> {
        let (edge, extent) = Self.bounds(of: element, field)
        var ignored = Adjustment.Why.range
        let low = Self.limited(-.greatestFiniteMagnitude, element.space, edge, extent, &ignored)
        return low...Self.limited(.greatestFiniteMagnitude, element.space, edge, extent, &ignored)
    }

    private static func bounds(of element: Element, _ field: ElementField) -> (edge: Double?, extent: Double?) {
        let bounds = element.bounds
        return field == .positionX ? (bounds?.x, bounds?.width) : (bounds?.y, bounds?.height)
    }

    /// The nearest line. A whole pixel that a line rounds to is left as it is: where two are as near it would creep.
    private static func snapped(_ value: Double, _ space: Space, _ lines: GridLines) -> Double {
        let line = lines.nearest(to: value)
        return space == .canvas && value.rounded() == value && (line - value).magnitude <= 0.5 ? value : line
    }

    private static func limited(
        _ value: Double, _ space: Space, _ edge: Double?, _ extent: Double?, _ why: inout Adjustment.Why
    ) -> Double {
        switch space {
        case .canvas: self.limited(pixels: value, edge, extent, &why)
        case .normalized: self.limited(fraction: value, edge, extent, &why)
        }
    }

    /// Within the canvas, then within the bounds.
    private static func limited(
        pixels: Double, _ edge: Double?, _ extent: Double?, _ why: inout Adjustment.Why
    ) -> Double {
        let value = clamped(pixels, -CanvasLimits.position, CanvasLimits.position)
        if value != pixels { why = .range }
        guard let edge, let extent else { return value }
        // The whole pixels inside the bounds; if there are none, the last one before them.
        let inside = min(max(value, edge.rounded(.up)), (edge + extent).rounded(.down))
        if inside != value { why = .bounds }
        return inside
    }

    /// Within the bounds, then within 0…1, which wins.
    private static func limited(
        fraction: Double, _ edge: Double?, _ extent: Double?, _ why: inout Adjustment.Why
    ) -> Double {
        var value = fraction
        if let edge, let extent {
            value = clamped(fraction, edge, edge + extent)
            if value != fraction { why = .bounds }
        }
        let inside = clamped(value, 0, 1)
        if inside != value { why = .range }
        return inside
    }
}
