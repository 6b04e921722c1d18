public import JSONBytes

extension Rect {
    /// Reads the visible part of the canvas in an app's `viewport:set`: `{x, y, width, height}` in canvas pixels, or
    /// `{zoomScale, offset: {x, y}, viewSize: {width, height}, canvasSize: {width, height}}` as in `Viewport`. Nil, the
    /// whole canvas, when there is neither. Edges are clamped to ±`CanvasLimits.reach`. Without the margin: see
    /// `Rect.withViewportMargin`.
    public init?(viewport payload: JSONValue) throws(FieldError) {
        let isRect = ["x", "y", "width", "height"].contains { payload[$0] != nil }
        let isZoom = ["zoomScale", "offset", "viewSize", "canvasSize"].contains { payload[$0] != nil }
        if isRect, isZoom {
            throw FieldError(field: "zoomScale", message: "A viewport is a rectangle or a zoom, not both.")
        }
        guard isRect || isZoom else { return nil }
        self = try isRect ? Self.visibleRect(payload) : Viewport(payload).visibleRect
        self = self.withinReach
    }

    private static func visibleRect(_ payload: JSONValue) throws(FieldError) -> Rect {
        let bounds = try Bounds(payload, "")
        return Rect(x: bounds.x, y: bounds.y, width: bounds.width, height: bounds.height)
    }
}

extension Viewport {
    fileprivate init(_ payload: JSONValue) throws(FieldError) {
        guard let zoom = payload["zoomScale"] else {
            throw FieldError(field: "zoomScale", message: "A number is required.")
        }
        let zoomScale = try ElementInput.positive(zoom, "zoomScale")
        guard let value = payload["offset"] else {
            throw FieldError(field: "offset", message: "An object {x, y} is required.")
        }
        let offset = try ElementInput.point(value, "offset")
        let viewSize = try Size(payload["viewSize"], "viewSize")
        let canvasSize = try Size(payload["canvasSize"], "canvasSize")
        guard
            let viewport = Viewport(zoomScale: zoomScale, offset: offset, viewSize: viewSize, canvasSize: canvasSize)
        else { throw FieldError(field: "zoomScale", message: "The zoom is too small.") }
        self = viewport
    }
}

extension Size {
    fileprivate init(_ value: JSONValue?, _ field: String) throws(FieldError) {
        guard let value, value.kind == .object, let width = value["width"], let height = value["height"] else {
            throw FieldError(field: field, message: "An object {width, height} is required.")
        }
        self.init(
            width: try ElementInput.positive(width, joined(field, "width")),
            height: try ElementInput.positive(height, joined(field, "height")))
    }
}

extension Rect {
    /// The rectangle with the margin in which apps hear of motion before it becomes visible: a tenth of the larger
    /// side, on all sides.
    public var withViewportMargin: Rect { self.expanded(byFractionOfLargerSide: 0.1) }

    /// The rectangle with its edges clamped to ±`CanvasLimits.reach`.
    var withinReach: Rect {
        let reach = CanvasLimits.reach
        let low = Point(x: clamped(self.origin.x, -reach, reach), y: clamped(self.origin.y, -reach, reach))
        let high = Point(x: clamped(self.end.x, -reach, reach), y: clamped(self.end.y, -reach, reach))
        return Rect(x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y)
    }
}
