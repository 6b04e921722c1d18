/// What one change did to an element that was there before it and after it.
public struct ChangedElement: Sendable {
    /// The element before the change.
    public var before: Element
    /// The element after it.
    public var after: Element

    /// A change from one state of an element to another.
    public init(before: Element, after: Element) {
        self.before = before
        self.after = after
    }

    /// True when the element is drawn at another place, in another size or turned differently.
    public var changesGeometry: Bool {
        self.sets(Self.placement + Self.scales + Self.sides) || self.before.rotation != self.after.rotation
    }

    /// True when it changes anything that an app or a user set, apart from the geometry.
    public var changesContent: Bool {
        let (before, after) = (self.before, self.after)
        return before.locked != after.locked || before.snapDegrees != after.snapDegrees
            || before.bounds != after.bounds || before.fontSize != after.fontSize || before.zIndex != after.zIndex
            || before.extra != after.extra
    }

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
        self.restore(\.locked, in: &element)
        var moved = element
        self.restorePosition(in: &moved)
        self.restore(\.rotation, in: &moved)
        self.restore(Self.scales, asOne: hasLockedAspect, in: &moved)
        self.restore(Self.sides, asOne: false, in: &moved)
        let isHeld = wasLocked && element.locked && moved != element
        if !isHeld { element = moved }
        self.restore(\.snapDegrees, in: &element)
        self.restore(\.bounds, in: &element)
        self.restore(\.fontSize, in: &element)
        self.restore(\.zIndex, in: &element)
        let fits = self.restoreExtra(in: &element)
        return isHeld ? .locked : fits ? nil : .ownFieldsTooLarge
    }

    // MARK: Groups of fields

    private typealias Number = WritableKeyPath<Element, Double>

    private static var anchor: [Number] { [\.anchorX, \.anchorY] }
    private static var position: [Number] { [\.positionX, \.positionY] }
    private static var placement: [Number] { Self.position + Self.anchor }
    private static var scales: [Number] { [\.scaleX, \.scaleY] }
    private static var sides: [Number] { [\.originalWidth, \.originalHeight] }

    private func restorePosition(in element: inout Element) {
        if self.sets(Self.anchor) {
            self.restore(Self.placement, asOne: true, in: &element)
        } else {
            self.restore(Self.position, asOne: false, in: &element)
        }
    }

    /// Restores fields each by itself, or as one: all of them, unless one was set since.
    private func restore(_ fields: [Number], asOne: Bool, in element: inout Element) {
        if asOne, !fields.allSatisfy({ element[keyPath: $0] == self.after[keyPath: $0] }) { return }
        for field in fields { self.restore(field, in: &element) }
    }

    private func sets(_ fields: [Number]) -> Bool {
        fields.contains { self.before[keyPath: $0] != self.after[keyPath: $0] }
    }

    private func restore<Value: Equatable>(_ field: WritableKeyPath<Element, Value>, in element: inout Element) {
        let (old, new) = (self.before[keyPath: field], self.after[keyPath: field])
        if old != new, element[keyPath: field] == new { element[keyPath: field] = old }
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
