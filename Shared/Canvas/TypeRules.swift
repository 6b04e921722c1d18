/// The rules of a type of element. All are magnitudes: mirroring is always allowed.
public struct TypeRules: Equatable, Sendable {
    /// Range of a scale's magnitude, 0 < minScale ≤ maxScale.
    public var minScale = 0.1, maxScale = 10.0
    /// Whether both axes have the same magnitude of scale.
    public var lockedAspect = false
    /// Whether it rotates in its plane; else its rotation is 0.
    public var rotates = true
    /// Whether it leaves its plane; else `positionZ`, `rotationX`, `rotationY` and `perspective` are 0.
    public var depth = true
    /// The minimum drawn width and height in pixels, 0 = any. They override the largest scale.
    public var minWidth = 0.0, minHeight = 0.0
    /// The minimum of both drawn sides in pixels, 0 = any.
    public var minSide = 0.0
    /// Range of the font size in points; nil = any.
    public var fontSize: ClosedRange<Double>?

    public init() {}

    /// Annotations lie in the plane of their parent, whatever their type.
    func allowsDepth(of element: Element) -> Bool { self.depth && element.space == .canvas }
}

/// Applies the rules to an original side that an update sets: the canvas's range, then the smallest size at which the type
/// may be drawn, which the scale stays for.
struct SideRule {
    let stored: Double
    let why: Adjustment.Why

    /// - Parameters:
    ///   - sent: above 0.
    ///   - scale: the element's, which stays.
    ///   - smallest: the minimum of the drawn side, pixels; 0: any.
    init(sent: Double, scale: Double, smallest: Double) {
        let range = CanvasLimits.originalSide
        let side = clamped(sent, range.lowerBound, range.upperBound)
        let least = Self.smallestSide(drawn: smallest, scale: scale.magnitude)
        self.stored = min(max(side, least), range.upperBound)
        self.why = side < least ? .size : .range
    }

    /// The smallest original side that `ScaleRule` lets keep a scale, so that the next transform leaves it alone.
    private static func smallestSide(drawn: Double, scale: Double) -> Double {
        var side = drawn / scale
        guard side > 0, side.isFinite else { return 0 }
        // The quotient may have been rounded down.
        while ScaleRule.smallestScale(side: drawn, original: side) > scale { side = side.nextUp }
        return side
    }
}
