internal import Canvas
internal import OperatorTerminal

/// What became of elements, in words.
enum ChangeWords {
    /// The most elements of an update that are named one by one.
    private static let named = 3

    /// An update's changes: of a group that was changed alike as one.
    static func text(of changes: [TailUpdate.Change]) -> String {
        guard let first = changes.first else { return "nothing changed" }
        let words = changes.map { Self.words(of: $0) }
        if changes.count == 1 { return "\(first.id) \(words[0])" }
        let names = changes.prefix(Self.named).map(\.id).joined(separator: ", ")
        let more = changes.count > Self.named ? ", …" : ""
        if words.allSatisfy({ $0 == words[0] }) { return "\(changes.count) elements (\(names)\(more)) \(words[0])" }
        let each = zip(changes, words).prefix(Self.named).map { "\($0.id) \($1)" }.joined(separator: "; ")
        let rest = changes.count - Self.named
        return rest > 0 ? "\(each); \(rest) more" : each
    }

    static func words(of change: TailUpdate.Change) -> String {
        switch (change.before, change.after) {
        case (_, nil): return "deleted"
        case (nil, let after?): return "created: \(after.type) at \(Self.position(of: after))"
        case (let before?, let after?):
            let words = Self.geometry(before, after) + Self.options(before, after) + Self.extras(before, after)
            return words.isEmpty ? "as it was" : words.joined(separator: ", ")
        }
    }

    static func text(of preview: TailPreview) -> String {
        var words: [String] = []
        let fields = preview.fields
        if fields.positionX != nil || fields.positionY != nil {
            words.append("to \(Self.number(fields.positionX)), \(Self.number(fields.positionY))")
        }
        if let rotation = fields.rotation { words.append("rotation \(Self.number(rotation))°") }
        if fields.scaleX != nil || fields.scaleY != nil {
            words.append("scale \(Self.factors(fields.scaleX, fields.scaleY))")
        }
        for field in ElementField.ruledAlone {
            if let value = fields[field] { words.append("\(field.name) \(Self.number(value))") }
        }
        return "\(preview.elementId) moving \(words.joined(separator: ", "))"
    }

    // MARK: Parts

    private static func geometry(_ before: Element, _ after: Element) -> [String] {
        var words: [String] = []
        if before.positionX != after.positionX || before.positionY != after.positionY {
            let (x, y) = (after.positionX - before.positionX, after.positionY - before.positionY)
            words.append("moved by \(Self.signed(x)), \(Self.signed(y))")
        }
        if before.rotation != after.rotation { words.append("rotated to \(Self.number(after.rotation))°") }
        if before.scaleX != after.scaleX || before.scaleY != after.scaleY {
            words.append("scaled to \(Self.factors(after.scaleX, after.scaleY))")
        }
        if before.originalWidth != after.originalWidth || before.originalHeight != after.originalHeight {
            words.append("resized to \(Self.number(after.originalWidth)) × \(Self.number(after.originalHeight))")
        }
        if before.anchorX != after.anchorX || before.anchorY != after.anchorY {
            words.append("anchor at \(Self.number(after.anchorX)), \(Self.number(after.anchorY))")
        }
        for field in ElementField.ruledAlone where before[field] != after[field] {
            words.append("\(field.name) \(Self.number(after[field]))")
        }
        return words
    }

    private static func options(_ before: Element, _ after: Element) -> [String] {
        var words: [String] = []
        if before.locked != after.locked { words.append(after.locked ? "locked" : "unlocked") }
        for field in ElementField.options where before[field] != after[field] {
            words.append("\(field.name) \(after[field].map(Self.number) ?? "none")")
        }
        if before.bounds != after.bounds { words.append(after.bounds == nil ? "no bounds" : "other bounds") }
        if before.constraints != after.constraints {
            words.append(after.constraints == nil ? "no constraints" : "other constraints")
        }
        if before.animation != after.animation {
            words.append(after.animation == nil ? "no animation" : "another animation")
        }
        return words
    }

    /// The app's own fields by name: their contents are the app's business.
    private static func extras(_ before: Element, _ after: Element) -> [String] {
        let old = Dictionary(before.extra.map { ($0.name, $0.json) }, uniquingKeysWith: { $1 })
        let new = Dictionary(after.extra.map { ($0.name, $0.json) }, uniquingKeysWith: { $1 })
        let names = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] && !Self.bookkeeping.contains($0) }
        return names.isEmpty ? [] : ["\(names.sorted().joined(separator: ", ")) changed"]
    }

    /// Fields that the server adds or that say when something changed.
    private static let bookkeeping: Set<String> = ["createdAt", "updatedAt"]

    private static func position(of element: Element) -> String {
        "\(Self.number(element.positionX)), \(Self.number(element.positionY))"
    }

    private static func factors(_ x: Double?, _ y: Double?) -> String {
        x == y || y == nil ? Self.number(x) : "\(Self.number(x)) × \(Self.number(y))"
    }

    private static func signed(_ value: Double) -> String {
        let text = Self.number(value)
        return value > 0 ? "+\(text)" : text
    }

    /// Positions of annotations are fractions.
    private static func number(_ value: Double?) -> String { value.map(Quantities.thousandths) ?? "-" }
}
