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
