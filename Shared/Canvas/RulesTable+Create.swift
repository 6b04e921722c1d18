extension RulesTable {
    /// Creates the requested element under the rules. The aspect lock is relative to scale 1. Adjustments contain only
    /// fields that were sent.
    public func create(_ new: NewElement, id: String, by user: String) -> (Element, [Adjustment]) {
        var adjustments: [Adjustment] = []
        let rules = self.rules(for: new.type)
        let fields = new.transform.usable
        var element = Element(id: id, type: new.type, createdBy: user)
        element.space = new.space ?? .canvas
        element.parentId = new.parentId
        element.animation = new.animation
        element.extra = new.extra
        Self.setAnchor(new, &element, &adjustments)
        Self.setOptions(ElementChanges(new), rules, &element, &adjustments)
        element.originalWidth = Self.original(
            ("originalWidth", new.originalWidth), drawn: fields.width, scale: fields.scaleX, rules, &adjustments)
        element.originalHeight = Self.original(
            ("originalHeight", new.originalHeight), drawn: fields.height, scale: fields.scaleY, rules, &adjustments)
        // It is put there, not moved: an axis holds it from now on.
        Self.setPosition(fields, along: nil, &element, &adjustments)
        Self.setRotation(fields.rotation, rules, &element, &adjustments)
        Self.placeDefault(fields, rules, &element)
        Self.setNewScale(fields, rules, &element, &adjustments)
        Self.setRuledAlone(fields, rules, &element, &adjustments)
        Self.compareSize(fields, element, &adjustments)
        return (element, adjustments)
    }

    /// Applies the fields of an update. It moves no anchor: new bounds, constraints and a new snapping step affect
    /// later transforms.
    /// Extra fields are replaced by name, added or removed; those that `Element.check` would reject are dropped. The
    /// caller checks locks and maintains `rev` and `updatedBy`.
    public func apply(_ changes: ElementChanges, to element: inout Element) -> [Adjustment] {
        var adjustments: [Adjustment] = []
        let rules = self.rules(for: element.type)
        Self.setOptions(changes, rules, &element, &adjustments)
        Self.resize(changes, rules, &element, &adjustments)
        if element.fits(changes) { element.extra = element.extra.updated(by: changes.extra) }
        return adjustments
    }

    // MARK: -

    /// A side at scale 1: the given one, else the drawn side divided by the sent scale, else 100. A scale that is not a
    /// valid divisor (0, or so small that the quotient overflows) counts as the smallest allowed one.
    private static func original(
        _ given: (name: String, side: Double?), drawn: Double?, scale: Double?, _ rules: TypeRules,
        _ adjustments: inout [Adjustment]
    ) -> Double {
        let range = CanvasLimits.originalSide
        if let side = usableNumber(given.side), side > 0 {
            let stored = clamped(side, range.lowerBound, range.upperBound)
            Self.note(given.name, side, stored, .range, &adjustments)
            return stored
        }
        guard let drawn, drawn > 0 else { return 100 }
        var side = drawn / (scale ?? 1).magnitude
        if !side.isFinite { side = drawn / rules.minScale }
        return clamped(side, range.lowerBound, range.upperBound)
    }

    /// Scales default to 1 and the rules apply to the default too, but only sent values are reported.
    private static func setNewScale(
        _ sent: TransformFields, _ rules: TypeRules, _ element: inout Element, _ adjustments: inout [Adjustment]
    ) {
        var fields = sent
        // With a locked aspect an axis that was not sent follows the other one instead.
        if !rules.lockedAspect || sent.scaleX == nil && sent.scaleY == nil {
            fields.scaleX = sent.scaleX ?? 1
            fields.scaleY = sent.scaleY ?? 1
        }
        var scaleAdjustments: [Adjustment] = []
        Self.setScale(fields, stored: (1, 1), rules, element.constraints?.scale, &element, &scaleAdjustments)
        for adjustment in scaleAdjustments {
            let wasSent = adjustment.field == "scaleX" ? sent.scaleX != nil : sent.scaleY != nil
            if wasSent { adjustments.append(adjustment) }
        }
    }

    private static func setAnchor(_ new: NewElement, _ element: inout Element, _ adjustments: inout [Adjustment]) {
        for field in [ElementField.anchorX, .anchorY] {
            guard let sent = usableNumber(new[field]) else { continue }
            element[field] = Self.anchor("\(field.name)", sent, &adjustments)
        }
    }

    static func anchor(_ name: String, _ sent: Double, _ adjustments: inout [Adjustment]) -> Double {
        let stored = clamped(sent, CanvasLimits.anchor.lowerBound, CanvasLimits.anchor.upperBound)
        Self.note(name, sent, stored, .range, &adjustments)
        return stored + 0
    }

    /// Moves the default position 0, 0 and the default rotation 0 to where bounds and constraints hold them; not reported,
    /// because they were not sent.
    private static func placeDefault(_ fields: TransformFields, _ rules: TypeRules, _ element: inout Element) {
        var ignored: [Adjustment] = []
        let missing = TransformFields(
            positionX: fields.positionX == nil ? 0 : nil, positionY: fields.positionY == nil ? 0 : nil)
        if !missing.isEmpty { Self.setPosition(missing, along: nil, &element, &ignored) }
        if fields.rotation == nil, element.constraints?.rotation != nil {
            Self.setRotation(0, rules, &element, &ignored)
        }
    }

    private static func setOptions(
        _ changes: ElementChanges, _ rules: TypeRules, _ element: inout Element, _ adjustments: inout [Adjustment]
    ) {
        if let locked = changes.locked { element.locked = locked }
        for field in ElementField.options {
            guard let change = changes[field] else { continue }
            if change == .remove { element[field] = nil }
            guard let sent = usableNumber(change.value), sent > 0 || !field.isPositive else { continue }
            let range = field == .fontSize ? rules.fontSize : field.range
            let stored = range.map { clamped(sent, $0.lowerBound, $0.upperBound) } ?? sent
            element[field] = stored + 0
            Self.note("\(field.name)", sent, stored, .range, &adjustments)
        }
        switch changes.bounds {
        case .set(let sent): Self.setBounds(sent, &element, &adjustments)
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
    private static func resize(
        _ changes: ElementChanges, _ rules: TypeRules, _ element: inout Element, _ adjustments: inout [Adjustment]
    ) {
        guard changes.originalWidth != nil || changes.originalHeight != nil else { return }
        for (field, scale, smallest) in [
            (ElementField.originalWidth, element.scaleX, rules.minWidth),
            (.originalHeight, element.scaleY, rules.minHeight),
        ] {
            guard let sent = usableNumber(changes[field]?.value), sent > 0 else { continue }
            let rule = SideRule(sent: sent, scale: scale, smallest: max(smallest, rules.minSide))
            element[field] = rule.stored
            Self.note("\(field.name)", sent, rule.stored, rule.why, &adjustments)
        }
        let scales = TransformFields(scaleX: element.scaleX, scaleY: element.scaleY)
        var unsent: [Adjustment] = []
        Self.setScale(scales, stored: (element.scaleX, element.scaleY), rules, nil, &element, &unsent)
    }

    private static func setBounds(_ sent: Bounds, _ element: inout Element, _ adjustments: inout [Adjustment]) {
        let numbers = [sent.x, sent.y, sent.width, sent.height]
        guard numbers.allSatisfy({ !$0.isNaN }), sent.width >= 0, sent.height >= 0 else { return }
        let limit = CanvasLimits.position
        let stored = Bounds(
            x: clamped(sent.x, -limit, limit) + 0, y: clamped(sent.y, -limit, limit) + 0,
            width: clamped(sent.width, 0, 2 * limit) + 0, height: clamped(sent.height, 0, 2 * limit) + 0)
        element.bounds = stored
        Self.note("bounds.x", sent.x, stored.x, .range, &adjustments)
        Self.note("bounds.y", sent.y, stored.y, .range, &adjustments)
        Self.note("bounds.width", sent.width, stored.width, .range, &adjustments)
        Self.note("bounds.height", sent.height, stored.height, .range, &adjustments)
    }
}

extension ElementChanges {
    init(_ new: NewElement) {
        for field in ElementField.options { self[field] = new[field].map(FieldChange.set) }
        self.locked = new.locked
        self.bounds = new.bounds.map(FieldChange.set)
        self.constraints = new.constraints.map(FieldChange.set)
    }
}

extension Element {
    /// The type of guides: lines that things snap to. They are moved as other elements are, but do not rotate.
    static let guideType = "guide"

    /// Rejects an update that would turn a guide: its own field `axis` says from its creation on along which axis it lies.
    private func checkAxis(_ changes: ElementChanges) throws(FieldError) {
        guard isSameText(self.type, Self.guideType), let sent = changes.extra.value(of: "axis") else { return }
        guard sent == self.extra.value(of: "axis") else {
            throw FieldError(field: "set.axis", message: "A guide keeps its axis.")
        }
    }

    /// Rejects an update after which the extra fields would be too many or too large, or a guide another line. Call it
    /// before applying the update.
    /// - Parameter pictureBytes: the maximum length of a picture that it sets.
    public func check(
        _ changes: ElementChanges, pictureBytes: Int = CanvasLimits.pictureBytes
    ) throws(FieldError) {
        if changes.extra.isEmpty { return }
        try self.checkAxis(changes)
        let setsPicture = changes.extra.value(of: ExtraField.pictureName) != nil
        let most = setsPicture ? pictureBytes : CanvasLimits.pictureBytes
        try self.extra.updated(by: changes.extra).checkLimits(field: "set", pictureBytes: most)
    }

    func fits(_ changes: ElementChanges) -> Bool {
        do { try self.check(changes) } catch { return false }
        return true
    }
}
