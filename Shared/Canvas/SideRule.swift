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
