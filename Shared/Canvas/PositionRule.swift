/// Applies the rules to one coordinate of a position.
struct PositionRule {
    /// The stored value, never −0.
    let stored: Double
    /// The last rule that changed it.
    let why: Adjustment.Why

    /// `edge` and `extent` are the bounds in this coordinate.
    init(sent: Double, space: Space, edge: Double?, extent: Double?) {
        switch space {
        case .canvas: self.init(pixels: sent, edge: edge, extent: extent)
        case .normalized: self.init(fraction: sent, edge: edge, extent: extent)
        }
    }

    /// Whole pixels, halves away from zero, within the canvas, then within the bounds.
    private init(pixels sent: Double, edge: Double?, extent: Double?) {
        let whole = sent.rounded()
        var value = clamped(whole, -CanvasLimits.position, CanvasLimits.position)
        var why = value == whole ? Adjustment.Why.integer : .range
        if let edge, let extent {
            // The whole pixels inside the bounds; if there are none, the last one before them.
            let inside = min(max(value, edge.rounded(.up)), (edge + extent).rounded(.down))
            if inside != value { why = .bounds }
            value = inside
        }
        self.stored = value + 0
        self.why = why
    }

    /// Within the bounds, then within 0…1, which wins; not rounded.
    private init(fraction sent: Double, edge: Double?, extent: Double?) {
        var value = sent
        var why = Adjustment.Why.range
        if let edge, let extent {
            let inside = clamped(value, edge, edge + extent)
            if inside != value { why = .bounds }
            value = inside
        }
        let fraction = clamped(value, 0, 1)
        if fraction != value { why = .range }
        self.stored = fraction + 0
        self.why = why
    }
}
