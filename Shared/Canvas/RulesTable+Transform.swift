extension RulesTable {
    /// Applies the fields of a preview or a commit to the element under the rules: scales (aspect, range, constraint,
    /// smallest size), rotation (kept at 0, normalised, constraint, snapped), positions (an ignored axis, grid, whole pixels,
    /// range, bounds), what has no rule but its row's in the table, and compares the size hints with the result. Only
    /// fields that are set are checked.
    ///
    /// The result lists every value that is stored differently from what was sent; it is empty, without an allocation,
    /// when there is none. Whatever the fields contain, the element stays finite: infinity counts as the largest
    /// number, NaN as absent. The caller checks locks and maintains `rev` and `updatedBy`.
    public func apply(_ fields: TransformFields, to element: inout Element) -> [Adjustment] {
        var adjustments: [Adjustment] = []
        let fields = fields.usable
        let rules = self.rules(for: element.type)
        let constraints = element.constraints
        Self.setPosition(fields, along: constraints?.axis, &element, &adjustments)
        Self.setRotation(fields.rotation, rules, &element, &adjustments)
        Self.setScale(
            fields, stored: (element.scaleX, element.scaleY), rules, constraints?.scale, &element, &adjustments)
        Self.setRuledAlone(fields, rules, &element, &adjustments)
        Self.compareSize(fields, element, &adjustments)
        return adjustments
    }

    /// - Parameter axis: along which alone the element moves; nil: along both.
    static func setPosition(
        _ fields: TransformFields, along axis: Constraints.Axis?, _ element: inout Element,
        _ adjustments: inout [Adjustment]
    ) {
        Self.setCoordinate(.positionX, fields, isHeld: axis == .y, element.constraints?.linesX, &element, &adjustments)
        Self.setCoordinate(.positionY, fields, isHeld: axis == .x, element.constraints?.linesY, &element, &adjustments)
    }

    private static func setCoordinate(
        _ field: ElementField, _ fields: TransformFields, isHeld: Bool, _ lines: GridLines?, _ element: inout Element,
        _ adjustments: inout [Adjustment]
    ) {
        guard let sent = fields[field], let stored = element[field] else { return }
        if isHeld { return Self.note("\(field.name)", sent, stored, .constraint, &adjustments) }
        let rule = PositionRule(sent, field, of: element, lines: lines)
        element[field] = rule.stored
        Self.note("\(field.name)", sent, rule.stored, rule.why, &adjustments)
    }

    /// The same angle in another spelling is not an adjustment, so the comparison uses the normalised value.
    static func setRotation(
        _ sent: Double?, _ rules: TypeRules, _ element: inout Element, _ adjustments: inout [Adjustment]
    ) {
        guard let sent else { return }
        let angle = Angle(degrees: sent)
        var stored = angle
        var why = Adjustment.Why.constraint
        if !rules.rotates {
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
        adjustments.append(Adjustment(field: "rotation", sent: sent, stored: stored.degrees, why: why))
    }

    static func setScale(
        _ fields: TransformFields, stored: (x: Double, y: Double), _ rules: TypeRules,
        _ constraint: ClosedRange<Double>?, _ element: inout Element, _ adjustments: inout [Adjustment]
    ) {
        let original = Size(width: element.originalWidth, height: element.originalHeight)
        let rule = ScaleRule(fields, stored: stored, original: original, rules: rules, constraint: constraint)
        if rule.x.isSet { element.scaleX = rule.x.sign * rule.x.magnitude }
        if rule.y.isSet { element.scaleY = rule.y.sign * rule.y.magnitude }
        // An axis that merely followed the other one was not sent, so there is nothing to report.
        if let sent = fields.scaleX { Self.note("scaleX", sent, element.scaleX, rule.x.why, &adjustments) }
        if let sent = fields.scaleY { Self.note("scaleY", sent, element.scaleY, rule.y.why, &adjustments) }
    }

    /// Fields that have no rule but that of their row. Where the type forbids depth, and on annotations, those that give
    /// depth are 0.
    static func setRuledAlone(
        _ fields: TransformFields, _ rules: TypeRules, _ element: inout Element, _ adjustments: inout [Adjustment]
    ) {
        for (field, sent) in fields.set {
            guard let rule = field.rule else { continue }
            let isFlat = field.isDeep && !rules.allowsDepth(of: element)
            var (stored, why) = rule.applied(to: sent)
            // The same angle in another spelling is not an adjustment.
            let asked = field.isAngle ? stored : sent
            if isFlat { (stored, why) = (0, field.isAngle ? .rotation : .depth) }
            element[field] = stored
            guard stored != asked else { continue }
            adjustments.append(Adjustment(field: "\(field.name)", sent: sent, stored: stored, why: why))
        }
    }

    /// Apps round drawn sizes: differences up to half a pixel are ignored.
    static func compareSize(_ fields: TransformFields, _ element: Element, _ adjustments: inout [Adjustment]) {
        guard fields.width != nil || fields.height != nil else { return }
        for field in [ElementField.width, .height] {
            guard let sent = fields[field], let drawn = element[field], (sent - drawn).magnitude > 0.5 else { continue }
            adjustments.append(Adjustment(field: "\(field.name)", sent: sent, stored: drawn, why: .computed))
        }
    }

    @inline(__always)
    static func note(
        _ field: @autoclosure () -> String, _ sent: Double, _ stored: Double, _ why: Adjustment.Why,
        _ adjustments: inout [Adjustment]
    ) {
        guard sent != stored else { return }
        adjustments.append(Adjustment(field: field(), sent: sent, stored: stored, why: why))
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
