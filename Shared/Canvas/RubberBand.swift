/// The give at the limits of a drag: beyond a range the content follows the finger less and less, and never further
/// than `extent`. The formula is that of UIScrollView: with c = `stiffness` and a finger that is x beyond the limit, the
/// content is (1 − 1 / (x · c / extent + 1)) · extent beyond it.
///
///     let band = RubberBand(range: viewport.offsetLimits.x, extent: viewport.viewSize.width)
///     let offset = band?.displayed(start + translation)   // while the finger is down
///     let rest = band?.clamped(start + translation)       // where it springs back to
public struct RubberBand: Equatable, Sendable {
    /// Within it nothing gives.
    public let range: ClosedRange<Double>
    /// How far beyond the range the content gets at most, above 0: usually the length of the view.
    public let extent: Double
    /// The ratio of the movements of content and finger right at the limit, in (0, 1].
    public let stiffness: Double

    /// A rubber band; nil unless `extent` is above 0, `stiffness` in (0, 1], and the range with the extent on both sides
    /// finite.
    public init?(range: ClosedRange<Double>, extent: Double, stiffness: Double = 0.55) {
        guard extent > 0, stiffness > 0, stiffness <= 1, (range.lowerBound - extent).isFinite,
            (range.upperBound + extent).isFinite
        else { return nil }
        self.range = range
        self.extent = extent
        self.stiffness = stiffness
    }

    /// The value inside the range that is nearest to this one. NaN counts as the lower limit.
    public func clamped(_ value: Double) -> Double {
        guard !value.isNaN else { return self.range.lowerBound }
        return Canvas.clamped(value, self.range.lowerBound, self.range.upperBound)
    }

    /// What to show for the value that the finger asks for. Continuous, increasing, and the identity inside the range.
    public func displayed(_ value: Double) -> Double {
        let limit = self.clamped(value)
        let excess = value - limit
        guard excess.magnitude > 0 else { return limit }
        let given = self.given(excess.magnitude)
        return limit + (excess < 0 ? -given : given)
    }

    /// The value that the finger asks for when this one is shown: the inverse of `displayed`, for a finger that catches
    /// content on its way back. What is `extent` or more beyond the range no finger reaches: it counts as the last one
    /// that a finger does.
    public func requested(_ displayed: Double) -> Double {
        let limit = self.clamped(displayed)
        let given = (displayed - limit).magnitude
        guard given > 0 else { return limit }
        let excess = self.excess(min(given, self.extent.nextDown))
        let largest = Double.greatestFiniteMagnitude
        return Canvas.clamped(limit + (displayed < limit ? -excess : excess), -largest, largest)
    }

    /// (1 − 1 / (x · c / d + 1)) · d, in the form x · c / (x · c / d + 1), which is exact for small excesses, too.
    private func given(_ excess: Double) -> Double {
        let pull = excess * self.stiffness
        let ratio = pull / self.extent
        return ratio.isFinite ? pull / (ratio + 1) : self.extent
    }

    private func excess(_ given: Double) -> Double {
        given / (1 - given / self.extent) / self.stiffness
    }
}
