/// Applies the rules to both scales of an element. Works on magnitudes; signs are restored at the end.
///
/// The order is part of the contract: aspect, then range, then the element's constraint within the range, then smallest
/// size, which therefore overrides the largest scale. An axis records the last rule that changed it.
struct ScaleRule {
    struct Axis {
        /// The magnitude so far.
        var magnitude: Double
        /// Whether the app sent it, or it follows the other axis.
        var isSet: Bool
        /// −1 for a mirror. 0 counts as +.
        let sign: Double
        var why = Adjustment.Why.range

        init(sent: Double?, stored: Double) {
            self.isSet = sent != nil
            let value = sent ?? stored
            self.magnitude = value.magnitude
            self.sign = value < 0 ? -1 : 1
        }

        mutating func set(_ value: Double, _ why: Adjustment.Why) {
            guard value != self.magnitude else { return }
            self.magnitude = value
            self.why = why
        }
    }

    var x: Axis
    var y: Axis

    /// Nothing to do when neither is sent: stored scales are not checked again.
    init(
        _ fields: TransformFields, stored: (x: Double, y: Double), original: Size, rules: TypeRules,
        constraint: ClosedRange<Double>?
    ) {
        self.x = Axis(sent: fields.scaleX, stored: stored.x)
        self.y = Axis(sent: fields.scaleY, stored: stored.y)
        guard self.x.isSet || self.y.isSet else { return }
        if rules.lockedAspect { self.lockAspect(stored: stored) }
        if self.x.isSet { self.x.set(clamped(self.x.magnitude, rules.minScale, rules.maxScale), .range) }
        if self.y.isSet { self.y.set(clamped(self.y.magnitude, rules.minScale, rules.maxScale), .range) }
        if let constraint { self.hold(in: constraint, rules) }
        var smallestX = Self.smallestScale(side: max(rules.minWidth, rules.minSide), original: original.width)
        var smallestY = Self.smallestScale(side: max(rules.minHeight, rules.minSide), original: original.height)
        if rules.lockedAspect {
            smallestX = max(smallestX, smallestY)
            smallestY = smallestX
        }
        if self.x.isSet { self.x.set(max(self.x.magnitude, smallestX), .size) }
        if self.y.isSet { self.y.set(max(self.y.magnitude, smallestY), .size) }
    }

    /// Both axes get the magnitude of the one that differs more from the stored value; X in case of a tie.
    private mutating func lockAspect(stored: (x: Double, y: Double)) {
        let yDecides: Bool
        if self.x.isSet, self.y.isSet {
            yDecides = Self.isFurther(
                (self.y.magnitude, stored.y.magnitude), than: (self.x.magnitude, stored.x.magnitude))
        } else {
            yDecides = self.y.isSet
        }
        let magnitude = yDecides ? self.y.magnitude : self.x.magnitude
        self.x.set(magnitude, .aspect)
        self.y.set(magnitude, .aspect)
        self.x.isSet = true
        self.y.isSet = true
    }

    /// The type's range wins over the constraint.
    private mutating func hold(in constraint: ClosedRange<Double>, _ rules: TypeRules) {
        let low = clamped(constraint.lowerBound, rules.minScale, rules.maxScale)
        let high = clamped(constraint.upperBound, rules.minScale, rules.maxScale)
        if self.x.isSet { self.x.set(clamped(self.x.magnitude, low, high), .constraint) }
        if self.y.isSet { self.y.set(clamped(self.y.magnitude, low, high), .constraint) }
    }

    /// |ln(a.sent / a.stored)| > |ln(b.sent / b.stored)|, without the logarithm: |ln| grows with larger / smaller, and
    /// two fractions are compared by their cross products. Those are split into significand and exponent, because
    /// quotients of values from apps can overflow. 0 is infinitely far from everything but 0.
    static func isFurther(_ a: (Double, Double), than b: (Double, Double)) -> Bool {
        let (aHigh, aLow) = (max(a.0, a.1), min(a.0, a.1))
        let (bHigh, bLow) = (max(b.0, b.1), min(b.0, b.1))
        if bLow == 0, bHigh > 0 { return false }
        if aLow == 0 { return aHigh > 0 }
        if bLow == 0 { return aHigh > aLow }
        func product(_ left: Double, _ right: Double) -> (exponent: Int, significand: Double) {
            let significand = left.significand * right.significand
            let carry = significand >= 2
            return (Int(left.exponent + right.exponent) + (carry ? 1 : 0), carry ? significand / 2 : significand)
        }
        let (left, right) = (product(aHigh, bLow), product(bHigh, aLow))
        return left.exponent == right.exponent
            ? left.significand > right.significand : left.exponent > right.exponent
    }

    /// The smallest scale at which `original` is drawn with `side` pixels or more.
    static func smallestScale(side: Double, original: Double) -> Double {
        guard side > 0, original > 0 else { return 0 }
        let scale = side / original
        guard scale.isFinite else { return 0 }
        // The quotient may have been rounded down, so check the product.
        return original * scale < side ? scale.nextUp : scale
    }
}

/// `value` clamped to low…high; must not be NaN.
func clamped(_ value: Double, _ low: Double, _ high: Double) -> Double {
    if value < low { return low }
    return value > high ? high : value
}
