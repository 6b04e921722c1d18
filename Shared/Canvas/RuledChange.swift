/// A change of one element under the rules of its type: sets what was sent as far as the rules allow, and notes what is
/// stored differently.
struct RuledChange {
    let rules: TypeRules
    var adjustments: [Adjustment] = []

    init(under rules: TypeRules) {
        self.rules = rules
    }

    /// - Parameter fields: usable ones.
    mutating func transform(_ element: inout Element, to fields: TransformFields) {
        let constraints = element.constraints
        self.setPosition(fields, along: constraints?.axis, of: &element)
        self.setRotation(fields.rotation, of: &element)
        self.setScale(fields, stored: (element.scaleX, element.scaleY), in: constraints?.scale, of: &element)
        self.setRuledAlone(fields, of: &element)
        self.compareSize(fields, of: element)
    }

    /// - Parameter axis: along which alone the element moves; nil: along both.
    mutating func setPosition(_ fields: TransformFields, along axis: Constraints.Axis?, of element: inout Element) {
        self.setCoordinate(.positionX, fields, isHeld: axis == .y, element.constraints?.linesX, of: &element)
        self.setCoordinate(.positionY, fields, isHeld: axis == .x, element.constraints?.linesY, of: &element)
    }

    private mutating func setCoordinate(
        _ field: ElementField, _ fields: TransformFields, isHeld: Bool, _ lines: GridLines?, of element: inout Element
    ) {
        guard let sent = fields[field], let stored = element[field] else { return }
        if isHeld { return self.adjustments.note("\(field.name)", sent, stored, .constraint) }
        let rule = PositionRule(sent, field, of: element, lines: lines)
        element[field] = rule.stored
        self.adjustments.note("\(field.name)", sent, rule.stored, rule.why)
    }

    /// The same angle in another spelling is not an adjustment, so the comparison uses the normalised value.
    mutating func setRotation(_ sent: Double?, of element: inout Element) {
        guard let sent else { return }
        let angle = Angle(degrees: sent)
        var stored = angle
        var why = Adjustment.Why.constraint
        if !self.rules.rotates {
            stored = .zero
            why = .rotation
        } else {
            if let arc = element.constraints?.rotation { stored = angle.clamped(to: arc) }
            if let step = element.snapDegrees {
                let held = stored
                stored = held.snapped(to: step)
                if stored != held { why = .snap }
            }
        }
        element.rotation = stored.degrees
        guard stored != angle else { return }
        self.adjustments.append(Adjustment(field: "rotation", sent: sent, stored: stored.degrees, why: why))
    }

    mutating func setScale(
        _ fields: TransformFields, stored: (x: Double, y: Double), in constraint: ClosedRange<Double>?,
        of element: inout Element
    ) {
        let original = Size(width: element.originalWidth, height: element.originalHeight)
        let rule = ScaleRule(fields, stored: stored, original: original, rules: self.rules, constraint: constraint)
        if rule.x.isSet { element.scaleX = rule.x.sign * rule.x.magnitude }
        if rule.y.isSet { element.scaleY = rule.y.sign * rule.y.magnitude }
        // An axis that merely followed the other one was not sent, so there is nothing to report.
        if let sent = fields.scaleX { self.adjustments.note("scaleX", sent, element.scaleX, rule.x.why) }
        if let sent = fields.scaleY { self.adjustments.note("scaleY", sent, element.scaleY, rule.y.why) }
    }

    /// Fields that have no rule but that of their row. Where the type forbids depth, and on annotations, those that give
    /// depth are 0.
    mutating func setRuledAlone(_ fields: TransformFields, of element: inout Element) {
        for (field, sent) in fields.set {
            guard let rule = field.rule else { continue }
            let isFlat = field.isDeep && !self.rules.allowsDepth(of: element)
            var (stored, why) = rule.applied(to: sent)
            // The same angle in another spelling is not an adjustment.
            let asked = field.isAngle ? stored : sent
            if isFlat { (stored, why) = (0, field.isAngle ? .rotation : .depth) }
            element[field] = stored
            guard stored != asked else { continue }
            self.adjustments.append(Adjustment(field: "\(field.name)", sent: sent, stored: stored, why: why))
        }
    }

    /// Apps round drawn sizes: differences up to half a pixel are ignored.
    mutating func compareSize(_ fields: TransformFields, of element: Element) {
        guard fields.width != nil || fields.height != nil else { return }
        for field in [ElementField.width, .height] {
            guard let sent = fields[field], let drawn = element[field], (sent - drawn).magnitude > 0.5 else { continue }
            self.adjustments.append(Adjustment(field: "\(field.name)", sent: sent, stored: drawn, why: .computed))
        }
    }
}

extension ElementField.Rule {
    /// What is stored of a number, and why if that is another one.
    fileprivate func applied(to sent: Double) -> (stored: Double, why: Adjustment.Why) {
        switch self {
        case .range(let range):
            return (sent == 0 ? 0 : clamped(sent, range.lowerBound, range.upperBound) + 0, .range)
        case .whole(let range):
            let whole = sent.rounded()
            let stored = clamped(whole, range.lowerBound, range.upperBound) + 0
            return (stored, stored == whole ? .integer : .range)
        case .angle: return (Angle.normalized(sent), .rotation)
        }
    }
}

extension TransformFields {
    /// The fields without values that are not finite. JSON has no such numbers, but arithmetic on numbers from JSON can
    /// produce them.
    var usable: TransformFields {
        // Only what is not finite differs from itself.
        if self.values - self.values == .zero { return self }
        var usable = self
        for (field, value) in self.set where !value.isFinite { usable[field] = usableNumber(value) }
        return usable
    }
}

/// A finite number unchanged, infinity as the largest number, NaN as absent.
@inline(__always)
func usableNumber(_ number: Double?) -> Double? {
    guard let number, !number.isNaN else { return nil }
    return clamped(number, -.greatestFiniteMagnitude, .greatestFiniteMagnitude)
}
