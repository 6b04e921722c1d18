/// The rules of all types of elements: a short list searched bytewise, because types come from apps.
public struct RulesTable: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        var name: [UInt8]
        var rules: TypeRules
    }

    var entries: [Entry]
    /// For all types that are not listed.
    var other: TypeRules

    /// The built-in rules.
    public static let defaults: RulesTable = {
        var photo = TypeRules()
        (photo.minScale, photo.maxScale, photo.lockedAspect) = (0.2, 5, true)
        var video = TypeRules()
        (video.minScale, video.maxScale, video.lockedAspect, video.minSide) = (0.5, 3, true, 44)
        var audio = TypeRules()
        (audio.minScale, audio.maxScale, audio.lockedAspect, audio.rotates) = (0.5, 3, true, false)
        (audio.minWidth, audio.minHeight, audio.depth) = (120, 44, false)
        var guide = TypeRules()
        (guide.rotates, guide.depth) = (false, false)
        var text = TypeRules()
        text.fontSize = 12...72
        let named = [
            ("note", TypeRules()), ("photo", photo), ("video", video), ("audio", audio), ("text", text),
            (Element.guideType, guide),
        ]
        return RulesTable(entries: named.map { Entry(name: Array($0.0.utf8), rules: $0.1) }, other: TypeRules())
    }()

    /// All types are as notes are by the built-in rules.
    public static let free = RulesTable(entries: [], other: TypeRules())

    /// The widest rules that a rules file can give to every type.
    public static let widest: RulesTable = {
        var rules = TypeRules()
        // A smallest side overrides the largest scale.
        (rules.minScale, rules.maxScale) = (1e-6, 1e6 / CanvasLimits.originalSide.lowerBound)
        return RulesTable(entries: [], other: rules)
    }()

    public func rules(for type: String) -> TypeRules {
        let found = type.utf8.withContiguousStorageIfAvailable { self.find($0) }
        return found ?? Array(type.utf8).withUnsafeBufferPointer { self.find($0) }
    }

    private func find(_ type: UnsafeBufferPointer<UInt8>) -> TypeRules {
        for entry in self.entries where entry.name.count == type.count && entry.name.elementsEqual(type) {
            return entry.rules
        }
        return self.other
    }
}

extension RulesTable {
    /// Creates the requested element under the rules. The aspect lock is relative to scale 1. Adjustments contain only
    /// fields that were sent.
    public func create(_ new: NewElement, id: String, by user: String) -> (Element, [Adjustment]) {
        var element = Element(id: id, type: new.type, createdBy: user)
        var change = RuledChange(under: self.rules(for: new.type))
        change.fill(&element, with: new)
        return (element, change.adjustments)
    }

    /// Applies the fields of a preview or a commit to the element under the rules: scales (aspect, range, constraint,
    /// smallest size), rotation (kept at 0, normalised, constraint, snapped), positions (an ignored axis, grid, whole pixels,
    /// range, bounds), what has no rule but its row's in the table, and compares the size hints with the result. Only
    /// fields that are set are checked.
    ///
    /// The result lists every value that is stored differently from what was sent; it is empty, without an allocation,
    /// when there is none. Whatever the fields contain, the element stays finite: infinity counts as the largest
    /// number, NaN as absent. The caller checks locks and maintains `rev` and `updatedBy`.
    public func apply(_ fields: TransformFields, to element: inout Element) -> [Adjustment] {
        var change = RuledChange(under: self.rules(for: element.type))
        change.transform(&element, to: fields.usable)
        return change.adjustments
    }

    /// Applies the fields of an update. It moves no anchor: new bounds, constraints and a new snapping step affect
    /// later transforms.
    /// Extra fields are replaced by name, added or removed; those that `ElementChanges.check` would reject are dropped. The
    /// caller checks locks and maintains `rev` and `updatedBy`.
    public func apply(_ changes: ElementChanges, to element: inout Element) -> [Adjustment] {
        var change = RuledChange(under: self.rules(for: element.type))
        change.update(&element, with: changes)
        return change.adjustments
    }
}
