/// What an app shows of the canvas. The canvas rests with its centre in the centre of the view, is scaled about that
/// centre by `zoomScale`, and then moved by `offset`:
///
///     screen = (p − canvasCentre) · zoomScale + viewCentre + offset
///
/// This is SwiftUI's `.scaleEffect(zoomScale).offset(offset)` of a canvas that is centred in its view, and the meaning
/// of `zoomScale` and `offset` in `viewport:set`.
public struct Viewport: Equatable, Sendable {
    /// Screen points per canvas pixel.
    public private(set) var zoomScale: Double
    /// Where the canvas's centre is shown, relative to the view's centre, in screen points: it is applied after the
    /// scale and does not grow with it.
    public private(set) var offset: Point
    /// The view's size in screen points.
    public let viewSize: Size
    /// The canvas's size in canvas pixels.
    public let canvasSize: Size

    /// A viewport; nil unless the zoom and both sizes are finite and above zero, and the offset and the visible
    /// rectangle are finite.
    public init?(zoomScale: Double, offset: Point, viewSize: Size, canvasSize: Size) {
        guard zoomScale > 0, zoomScale.isFinite, viewSize.isUsable, canvasSize.isUsable else { return nil }
        self.zoomScale = zoomScale
        self.offset = offset
        self.viewSize = viewSize
        self.canvasSize = canvasSize
        guard self.isFinite else { return nil }
    }

    /// Screen → canvas.
    public func canvasPoint(fromScreen point: Point) -> Point {
        let arm = point - self.viewSize.center - self.offset
        return self.canvasSize.center + Point(x: arm.x / self.zoomScale, y: arm.y / self.zoomScale)
    }

    /// Canvas → screen.
    public func screenPoint(fromCanvas point: Point) -> Point {
        (point - self.canvasSize.center) * self.zoomScale + self.viewSize.center + self.offset
    }

    /// The visible part of the canvas, in canvas pixels; where the canvas ends before the view does, it goes on.
    public var visibleRect: Rect {
        let origin = self.canvasPoint(fromScreen: .zero)
        return Rect(
            x: origin.x, y: origin.y, width: self.viewSize.width / self.zoomScale,
            height: self.viewSize.height / self.zoomScale)
    }

    private var isFinite: Bool { self.offset.isFinite && self.visibleRect.isFinite }

    /// Makes a change, or none and returns false if its result is not finite.
    private mutating func change(_ change: (inout Viewport) -> Void) -> Bool {
        var changed = self
        change(&changed)
        guard changed.isFinite else { return false }
        self = changed
        return true
    }
}

// MARK: - Scrolling and zooming

extension Viewport {
    /// The offset that shows a point of the canvas in the centre of the view; nil unless all numbers are finite and
    /// sizes and zoom above zero.
    ///
    /// It follows from the formula of this type for screen = viewCentre: offset = (canvasCentre − target) · zoomScale.
    /// The pivot of the scale is the canvas's centre, so the distance from there counts, not from the origin; and the
    /// offset is applied after the scale, so the distance is scaled. The view's size cancels out because the canvas
    /// rests centred in its view. In a layout that rests with both top left corners in the same place, add
    /// (viewSize − canvasSize) / 2.
    ///
    ///     let canvas = Size(width: 2000, height: 2000), view = Size(width: 400, height: 800)
    ///     Viewport.centerOnPoint(Point(x: 1500, y: 500), viewSize: view, canvasSize: canvas, zoomScale: 2)
    ///     // (−1000, 1000)
    public static func centerOnPoint(
        _ target: Point, viewSize: Size, canvasSize: Size, zoomScale: Double
    ) -> Point? {
        guard var viewport = Viewport(zoomScale: zoomScale, offset: .zero, viewSize: viewSize, canvasSize: canvasSize)
        else { return nil }
        guard viewport.centerOnPoint(target) else { return nil }
        return viewport.offset
    }

    /// The point of the canvas in the centre of the view: the inverse of `centerOnPoint`.
    public var centerPoint: Point { self.canvasPoint(fromScreen: self.viewSize.center) }

    /// Scrolls so that a point of the canvas is in the centre of the view. False, without an effect, when the offset
    /// would not be finite.
    @discardableResult
    public mutating func centerOnPoint(_ target: Point) -> Bool {
        let offset = (self.canvasSize.center - target) * self.zoomScale
        return self.change { $0.offset = offset }
    }

    /// Moves the canvas under the finger, screen points. False, without an effect, when the offset would not be finite.
    @discardableResult
    public mutating func pan(by translation: Point) -> Bool {
        self.change { $0.offset = $0.offset + translation }
    }

    /// Zooms towards a point on the screen: what is under the finger stays there. False, without an effect, unless the
    /// scale is finite and above zero, and the result finite.
    @discardableResult
    public mutating func zoom(to scale: Double, about screenPoint: Point) -> Bool {
        guard scale > 0, scale.isFinite else { return false }
        let arm = self.canvasPoint(fromScreen: screenPoint) - self.canvasSize.center
        return self.change {
            $0.zoomScale = scale
            $0.offset = screenPoint - $0.viewSize.center - arm * scale
        }
    }
}

// MARK: - Limits

extension Viewport {
    /// The offsets at which the canvas covers the view; 0 on an axis on which it is smaller than the view.
    public var offsetLimits: (x: ClosedRange<Double>, y: ClosedRange<Double>) {
        let x = max(0, (self.canvasSize.width * self.zoomScale - self.viewSize.width) / 2)
        let y = max(0, (self.canvasSize.height * self.zoomScale - self.viewSize.height) / 2)
        return (-x...x, -y...y)
    }

    /// The same zoom, scrolled back to within `offsetLimits`.
    public var withinLimits: Viewport {
        let limits = self.offsetLimits
        var viewport = self
        viewport.offset = Point(
            x: clamped(self.offset.x, limits.x.lowerBound, limits.x.upperBound),
            y: clamped(self.offset.y, limits.y.lowerBound, limits.y.upperBound))
        return viewport
    }
}
