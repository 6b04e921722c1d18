extension RuledChange {
    /// Sets what an element to create has, on one that has its defaults.
    mutating func fill(_ element: inout Element, with new: NewElement) {
        let fields = new.transform.usable
        element.space = new.space ?? .canvas
        element.parentId = new.parentId
        element.animation = new.animation
        element.extra = new.extra
        self.setAnchor(new, of: &element)
        self.setOptions(ElementChanges(new), of: &element)
        element.originalWidth = self.original(
            "originalWidth", new.originalWidth, drawn: fields.width, scale: fields.scaleX)
        element.originalHeight = self.original(
            "originalHeight", new.originalHeight, drawn: fields.height, scale: fields.scaleY)
        // It is put there, not moved: an axis holds it from now on.
        self.setPosition(fields, along: nil, of: &element)
        self.setRotation(fields.rotation, of: &element)
        self.placeDefault(fields, of: &element)
        self.setNewScale(fields, of: &element)
        self.setRuledAlone(fields, of: &element)
        self.compareSize(fields, of: element)
    }

    mutating func update(_ element: inout Element, with changes: ElementChanges) {
        self.setOptions(changes, of: &element)
        self.resize(&element, to: changes)
        if changes.fit(element) { element.extra = element.extra.updated(by: changes.extra) }
    }

    // MARK: -

    /// A side at scale 1: the given one, else the drawn side divided by the sent scale, else 100. A scale that is not a
    /// valid divisor (0, or so small that the quotient overflows) counts as the smallest allowed one.
    private mutating func original(
        _ name: StaticString, _ given: Double?, drawn: Double?, scale: Double?
    ) -> Double {
        let range = CanvasLimits.originalSide
        if let side = usableNumber(given), side > 0 { return self.adjustments.clamp("\(name)", side, to: range) }
        guard let drawn, drawn > 0 else { return 100 }
        var side = drawn / (scale ?? 1).magnitude
        if !side.isFinite { side = drawn / self.rules.minScale }
        return clamped(side, range.lowerBound, range.upperBound)
    }

    /// Scales default to 1 and the rules apply to the default too, but only sent values are reported.
    private mutating func setNewScale(_ sent: TransformFields, of element: inout Element) {
        var fields = sent
        // With a locked aspect an axis that was not sent follows the other one instead.
        if !self.rules.lockedAspect || sent.scaleX == nil && sent.scaleY == nil {
            fields.scaleX = sent.scaleX ?? 1
            fields.scaleY = sent.scaleY ?? 1
        }
        var change = RuledChange(under: self.rules)
        change.setScale(fields, stored: (1, 1), in: element.constraints?.scale, of: &element)
        self.adjustments += change.adjustments.filter { sent[$0.field == "scaleX" ? .scaleX : .scaleY] != nil }
    }

    private mutating func setAnchor(_ new: NewElement, of element: inout Element) {
        for field in [ElementField.anchorX, .anchorY] {
            guard let sent = usableNumber(new[field]) else { continue }
            element[field] = self.adjustments.clamp("\(field.name)", sent, to: CanvasLimits.anchor)
        }
    }

    /// Moves the default position 0, 0 and the default rotation 0 to where bounds and constraints hold them; not reported,
    /// because they were not sent.
    private func placeDefault(_ fields: TransformFields, of element: inout Element) {
        var unsent = RuledChange(under: self.rules)
        let missing = TransformFields(
            positionX: fields.positionX == nil ? 0 : nil, positionY: fields.positionY == nil ? 0 : nil)
        if !missing.isEmpty { unsent.setPosition(missing, along: nil, of: &element) }
        if fields.rotation == nil, element.constraints?.rotation != nil { unsent.setRotation(0, of: &element) }
    }

    private mutating func setOptions(_ changes: ElementChanges, of element: inout Element) {
        if let locked = changes.locked { element.locked = locked }
        for field in ElementField.options {
            guard let change = changes[field] else { continue }
            if change == .remove { element[field] = nil }
            guard let sent = usableNumber(change.value), sent > 0 || !field.isPositive else { continue }
            let range = field == .fontSize ? self.rules.fontSize : field.range
            element[field] = range.map { self.adjustments.clamp("\(field.name)", sent, to: $0) } ?? sent + 0
        }
        switch changes.bounds {
        case .set(let sent): self.setBounds(sent, of: &element)
        case .remove: element.bounds = nil
        case nil: break
        }
        switch changes.constraints {
        case .set(let sent): if (try? sent.check("")) != nil { element.constraints = sent }
        case .remove: element.constraints = nil
        case nil: break
        }
    }

    /// The scales stay, within the rules of the type: one that only the smallest size had raised may now be beyond the
    /// largest. They are not sent, so no constraint holds them.
    private mutating func resize(_ element: inout Element, to changes: ElementChanges) {
        guard changes.originalWidth != nil || changes.originalHeight != nil else { return }
        for (field, scale, smallest) in [
            (ElementField.originalWidth, element.scaleX, self.rules.minWidth),
            (.originalHeight, element.scaleY, self.rules.minHeight),
        ] {
            guard let sent = usableNumber(changes[field]?.value), sent > 0 else { continue }
            let rule = SideRule(sent: sent, scale: scale, smallest: max(smallest, self.rules.minSide))
            element[field] = rule.stored
            self.adjustments.note("\(field.name)", sent, rule.stored, rule.why)
        }
        let scales = TransformFields(scaleX: element.scaleX, scaleY: element.scaleY)
        var unsent = RuledChange(under: self.rules)
        unsent.setScale(scales, stored: (element.scaleX, element.scaleY), in: nil, of: &element)
    }

    private mutating func setBounds(_ sent: Bounds, of element: inout Element) {
        let numbers = [sent.x, sent.y, sent.width, sent.height]
        guard numbers.allSatisfy({ !$0.isNaN }), sent.width >= 0, sent.height >= 0 else { return }
        let limit = CanvasLimits.position
        element.bounds = Bounds(
            x: self.adjustments.clamp("bounds.x", sent.x, to: -limit...limit),
            y: self.adjustments.clamp("bounds.y", sent.y, to: -limit...limit),
            width: self.adjustments.clamp("bounds.width", sent.width, to: 0...2 * limit),
            height: self.adjustments.clamp("bounds.height", sent.height, to: 0...2 * limit))
    }
}

extension ElementChanges {
    fileprivate init(_ new: NewElement) {
        for field in ElementField.options { self[field] = new[field].map(FieldChange.set) }
        self.locked = new.locked
        self.bounds = new.bounds.map(FieldChange.set)
        self.constraints = new.constraints.map(FieldChange.set)
    }
}
