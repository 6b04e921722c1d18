/// The rules of a type of element. All are magnitudes: mirroring is always allowed.
public struct TypeRules: Equatable, Sendable {
    /// Range of a scale's magnitude, 0 < minScale ≤ maxScale.
    public var minScale = 0.1, maxScale = 10.0
    /// Whether both axes have the same magnitude of scale.
    public var lockedAspect = false
    /// Whether it rotates; else its rotation is 0.
    public var rotates = true
    /// The minimum drawn width and height in pixels, 0 = any. They override the largest scale.
    public var minWidth = 0.0, minHeight = 0.0
    /// The minimum of both drawn sides in pixels, 0 = any.
    public var minSide = 0.0
    /// Range of the font size in points; nil = any.
    public var fontSize: ClosedRange<Double>?

    /// The rules of a type that is not named.
    public init() {}
}
