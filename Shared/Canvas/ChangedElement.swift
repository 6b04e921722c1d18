/// What one change did to an element that was there before it and after it.
public struct ChangedElement: Sendable {
    /// The element before the change.
    public var before: Element
    /// The element after it.
    public var after: Element

    public init(before: Element, after: Element) {
        self.before = before
        self.after = after
    }

    /// True when the element is drawn at another place, in another size or otherwise as a transform does.
    public var changesGeometry: Bool { ElementField.geometry.contains(where: self.changes) }

    /// True when it changes anything that an app or a user set, apart from the geometry.
    public var changesContent: Bool {
        ElementField.content.contains(where: self.changes) || self.before.extra != self.after.extra
    }

    private func changes(_ field: ElementField) -> Bool { !field.isSame(in: self.before, self.after) }

    /// Takes the change back, field by field: a field that it set gets its old value, if it still has the one that the
    /// change left. Values are restored as they were, even if a rule has become stricter since.
    ///
    /// Two groups of fields hold together: anchor and position, if the change moved the anchor, and both scales under an
    /// aspect lock. The geometry of an element that is and stays locked is left alone. `rev` and the users are too.
    ///
    /// - Parameters:
    ///   - element: the element now, which may have changed since.
    ///   - hasLockedAspect: whether the element's type has the aspect lock.
    /// - Returns: why some of it could not be taken back now; nil when all was that is as the change left it.
    @discardableResult
    public func undo(in element: inout Element, hasLockedAspect: Bool) -> UndoObstacle? {
        let wasLocked = element.locked
        self.restore(.locked, in: &element)
        var moved = element
        let together = self.together(hasLockedAspect: hasLockedAspect)
        for field in ElementField.geometry {
            let group = together.first { $0.contains(field) } ?? []
            if group.allSatisfy({ $0.isSame(in: element, self.after) }) { self.restore(field, in: &moved) }
        }
        let isHeld = wasLocked && element.locked && moved != element
        if !isHeld { element = moved }
        for field in ElementField.content { self.restore(field, in: &element) }
        let fits = self.restoreExtra(in: &element)
        return isHeld ? .locked : fits ? nil : .ownFieldsTooLarge
    }

    /// The groups of fields that are restored together or, if one was set since, not at all.
    private func together(hasLockedAspect: Bool) -> [[ElementField]] {
        let movesAnchor = self.changes(.anchorX) || self.changes(.anchorY)
        return (movesAnchor ? [[.positionX, .positionY, .anchorX, .anchorY]] : [])
            + (hasLockedAspect ? [[.scaleX, .scaleY]] : [])
    }

    private func restore(_ field: ElementField, in element: inout Element) {
        if self.changes(field), field.isSame(in: element, self.after) { field.copy(from: self.before, to: &element) }
    }

    /// The app's own fields are restored one by one, unless they would then be too large together: then it is false. A
    /// removed one comes back to its place among them.
    private func restoreExtra(in element: inout Element) -> Bool {
        var restored = element.extra
        for (index, field) in self.before.extra.enumerated() {
            let new = self.after.extra.value(of: field.name)
            guard field.json != new, restored.value(of: field.name) == new else { continue }
            if new == nil {
                restored.insert(field, at: min(index, restored.count))
            } else {
                restored.set(field.name, to: field.json)
            }
        }
        for field in self.after.extra where self.before.extra.value(of: field.name) == nil {
            if restored.value(of: field.name) == field.json { restored.set(field.name, to: nil) }
        }
        guard restored == element.extra || restored.isWithinLimits else { return false }
        element.extra = restored
        return true
    }
}

/// Why a change of an element cannot be taken back now, although the element is as the change left it.
public enum UndoObstacle: Sendable {
    /// The element is locked, and its geometry would change.
    case locked
    /// The app's own fields would be too large together.
    case ownFieldsTooLarge
}
