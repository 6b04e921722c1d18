extension Element {
    /// Takes back a change, field by field: a field that the change set gets its old value, if it still has the one that
    /// the change left. Values are restored as they were, even if a rule has become stricter since.
    ///
    /// Two groups of fields hold together: anchor and position, if the change moved the anchor, and both scales under an
    /// aspect lock. The geometry of an element that is and stays locked is left alone. `rev` and the users are too.
    ///
    /// - Parameters:
    ///   - before: the element before the change.
    ///   - after: the element after it.
    ///   - hasLockedAspect: whether the element's type has the aspect lock.
    public mutating func revert(from after: Element, to before: Element, hasLockedAspect: Bool) {
        let wasLocked = self.locked
        self.restore(\.locked, from: after, to: before)
        if !wasLocked || !self.locked {
            self.revertPosition(from: after, to: before)
            self.restore(\.rotation, from: after, to: before)
            if hasLockedAspect {
                self.restore(\.scales, from: after, to: before)
            } else {
                self.restore(\.scaleX, from: after, to: before)
                self.restore(\.scaleY, from: after, to: before)
            }
        }
        self.restore(\.snapDegrees, from: after, to: before)
        self.restore(\.bounds, from: after, to: before)
        self.restore(\.fontSize, from: after, to: before)
        self.restore(\.zIndex, from: after, to: before)
        self.revertExtra(from: after, to: before)
    }

    /// True when the element is drawn at another place, in another size or turned differently.
    public func differsInGeometry(from other: Element) -> Bool {
        self.placement != other.placement || self.rotation != other.rotation || self.scales != other.scales
    }

    /// True when they differ in anything that an app or a user set, apart from the geometry.
    public func differsInContent(from other: Element) -> Bool {
        self.locked != other.locked || self.snapDegrees != other.snapDegrees || self.bounds != other.bounds
            || self.fontSize != other.fontSize || self.zIndex != other.zIndex || self.extra != other.extra
    }

    private mutating func restore<Value: Equatable>(
        _ field: WritableKeyPath<Element, Value>, from after: Element, to before: Element
    ) {
        guard before[keyPath: field] != after[keyPath: field], self[keyPath: field] == after[keyPath: field] else {
            return
        }
        self[keyPath: field] = before[keyPath: field]
    }

    private mutating func revertPosition(from after: Element, to before: Element) {
        if before.anchorX != after.anchorX || before.anchorY != after.anchorY {
            self.restore(\.placement, from: after, to: before)
        } else {
            self.restore(\.positionX, from: after, to: before)
            self.restore(\.positionY, from: after, to: before)
        }
    }

    /// The app's own fields are restored one by one, unless they would then be too large together.
    private mutating func revertExtra(from after: Element, to before: Element) {
        var reverted = self
        for name in (before.extra + after.extra).map(\.name) {
            let old = before.extraValue(name)
            let new = after.extraValue(name)
            guard old != new, reverted.extraValue(name) == new else { continue }
            reverted.setExtra(name, old)
        }
        if reverted.extra.count <= CanvasLimits.extraFields, reverted.extraByteCount <= CanvasLimits.extraBytes {
            self.extra = reverted.extra
        }
    }

    private func extraValue(_ name: String) -> [UInt8]? {
        self.extra.first { isSameText($0.name, name) }?.json
    }

    private mutating func setExtra(_ name: String, _ json: [UInt8]?) {
        if let json {
            self.mergeExtra([ExtraField(name: name, json: json)])
        } else {
            self.extra.removeAll { isSameText($0.name, name) }
        }
    }

    /// Position and anchor: x and y of each.
    private var placement: [Double] {
        get { [self.positionX, self.positionY, self.anchorX, self.anchorY] }
        set {
            (self.positionX, self.positionY) = (newValue[0], newValue[1])
            (self.anchorX, self.anchorY) = (newValue[2], newValue[3])
        }
    }

    private var scales: [Double] {
        get { [self.scaleX, self.scaleY] }
        set { (self.scaleX, self.scaleY) = (newValue[0], newValue[1]) }
    }
}
