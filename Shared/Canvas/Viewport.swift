/// The part of the canvas that a scroll view shows: screen = canvas · zoomScale − offset.
public struct Viewport: Equatable, Sendable {
    /// Screen points per canvas pixel.
    public private(set) var zoomScale: Double
    /// The scroll view's content offset in screen points.
    public private(set) var offset: Point
    /// The view's size in screen points.
    public let viewSize: Size

    /// A viewport; nil unless zoom and size are finite and above zero and the offset is finite.
    public init?(zoomScale: Double, offset: Point, viewSize: Size) {
        guard zoomScale > 0, zoomScale.isFinite, offset.x.isFinite, offset.y.isFinite, viewSize.isUsable else {
            return nil
        }
        self.zoomScale = zoomScale
        self.offset = offset
        self.viewSize = viewSize
    }

    /// Screen → canvas.
    public func canvasPoint(fromScreen point: Point) -> Point {
        let content = point + self.offset
        return Point(x: content.x / self.zoomScale, y: content.y / self.zoomScale)
    }

    /// Canvas → screen.
    public func screenPoint(fromCanvas point: Point) -> Point {
        point * self.zoomScale - self.offset
    }

    /// The visible part of the canvas.
    public var visibleRect: Rect {
        let origin = self.canvasPoint(fromScreen: .zero)
        return Rect(
            x: origin.x, y: origin.y, width: self.viewSize.width / self.zoomScale,
            height: self.viewSize.height / self.zoomScale)
    }

    /// Scrolls so that a point of the canvas is in the centre of the view.
    public mutating func centerOnPoint(_ point: Point) {
        let content = point * self.zoomScale
        self.offset = Point(x: content.x - self.viewSize.width / 2, y: content.y - self.viewSize.height / 2)
    }

    /// Zooms about a point on the screen, which keeps its point of the canvas. An invalid scale has no effect.
    public mutating func zoom(to scale: Double, about screenPoint: Point) {
        guard scale > 0, scale.isFinite else { return }
        let fixed = self.canvasPoint(fromScreen: screenPoint)
        self.zoomScale = scale
        self.offset = fixed * scale - screenPoint
    }
}
