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
