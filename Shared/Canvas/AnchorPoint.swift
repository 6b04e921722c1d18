/// The nine anchors that have a name. An anchor is a point of an element in units of its size, so any other `Point` is
/// an anchor, too: 0.25, 0.5 is halfway between the left edge and the centre.
public enum AnchorPoint: String, CaseIterable, Sendable {
    /// The upper edge.
    case topLeft, top, topRight
    /// The middle.
    case left, center, right
    /// The lower edge.
    case bottomLeft, bottom, bottomRight

    /// The anchor in units of the element's size: 0, 0 is top left, 1, 1 is bottom right.
    public var unitPoint: Point {
        switch self {
        case .topLeft: Point(x: 0, y: 0)
        case .top: Point(x: 0.5, y: 0)
        case .topRight: Point(x: 1, y: 0)
        case .left: Point(x: 0, y: 0.5)
        case .center: Point(x: 0.5, y: 0.5)
        case .right: Point(x: 1, y: 0.5)
        case .bottomLeft: Point(x: 0, y: 1)
        case .bottom: Point(x: 0.5, y: 1)
        case .bottomRight: Point(x: 1, y: 1)
        }
    }
}

extension Rect {
    /// The anchor at a point of this rectangle; nil when a side is 0 or the result is not finite.
    public func anchor(at point: Point) -> Point? {
        guard self.size.width != 0, self.size.height != 0 else { return nil }
        let inside = point - self.origin
        let anchor = Point(x: inside.x / self.size.width, y: inside.y / self.size.height)
        return anchor.isFinite ? anchor : nil
    }
}
