/// An image shown completely, undistorted and centred in a view, with bars above and below (letterbox) or at both sides
/// (pillarbox): maps between the screen, the image's pixels and the normalised 0…1 coordinates in which annotations are
/// stored. These do not depend on the view, so they are the same on every screen and after the device was turned. Each
/// map and its inverse are exact to 1e-9 for sides up to 10,000.
///
///     guard let box = Letterbox(image: Size(width: 4000, height: 3000), view: view) else { return }
///     let stored = box.normalizedPoint(fromScreen: tap)    // positionX, positionY of the annotation
///     label.center = box.screenPoint(fromNormalized: stored)
///     label.fontSize = FontSize.drawn(fontSize, scale: box.scale)
public struct Letterbox: Equatable, Sendable {
    /// The image's size in its own pixels.
    public let image: Size
    /// The image's rectangle on the screen.
    public let frame: Rect
    /// Screen points per image pixel.
    public let scale: Double

    /// Fits an image into a view; nil unless both sizes are finite and above zero.
    public init?(image: Size, view: Size) {
        guard image.isUsable, view.isUsable else { return nil }
        let scale = min(view.width / image.width, view.height / image.height)
        let (width, height) = (image.width * scale, image.height * scale)
        guard scale > 0, scale.isFinite, width.isFinite, height.isFinite, width > 0, height > 0 else { return nil }
        self.image = image
        self.scale = scale
        self.frame = Rect(x: (view.width - width) / 2, y: (view.height - height) / 2, width: width, height: height)
    }

    /// Screen → image pixels.
    public func imagePoint(fromScreen point: Point) -> Point {
        let inFrame = point - self.frame.origin
        return Point(x: inFrame.x / self.scale, y: inFrame.y / self.scale)
    }

    /// Image pixels → screen.
    public func screenPoint(fromImage point: Point) -> Point {
        point * self.scale + self.frame.origin
    }

    /// Image pixels → 0…1. Points outside the image map to values outside 0…1.
    public func normalizedPoint(fromImage point: Point) -> Point {
        Point(x: point.x / self.image.width, y: point.y / self.image.height)
    }

    /// 0…1 → image pixels.
    public func imagePoint(fromNormalized point: Point) -> Point {
        Point(x: point.x * self.image.width, y: point.y * self.image.height)
    }

    /// Screen → 0…1.
    public func normalizedPoint(fromScreen point: Point) -> Point {
        self.normalizedPoint(fromImage: self.imagePoint(fromScreen: point))
    }

    /// 0…1 → screen.
    public func screenPoint(fromNormalized point: Point) -> Point {
        self.screenPoint(fromImage: self.imagePoint(fromNormalized: point))
    }
}

/// Sizes of text in annotations, points.
public enum FontSize {
    /// The range that is stored.
    public static let storedRange = 12.0...72.0
    /// The smallest size that is drawn: text must stay readable however small its image is shown.
    public static let smallestDrawn = 16.0

    /// The size to store for a chosen one: clamped to `storedRange`. Nil unless it is finite.
    public static func stored(_ size: Double) -> Double? {
        guard size.isFinite else { return nil }
        return clamped(size, Self.storedRange.lowerBound, Self.storedRange.upperBound)
    }

    /// The size to draw for a stored one, `smallestDrawn` or more. `scale` is 1 for text that keeps its size on the
    /// screen, and `Letterbox.scale` for text that grows with its image. Numbers that are not finite count as
    /// `smallestDrawn`.
    public static func drawn(_ stored: Double, scale: Double = 1) -> Double {
        let size = stored * scale
        return size.isFinite ? max(size, Self.smallestDrawn) : Self.smallestDrawn
    }
}
