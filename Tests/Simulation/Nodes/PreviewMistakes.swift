import Canvas
import Wire

/// What is wrong with the previews that a gateway with one of the mistakes of this kind sends; right in every other.
struct PreviewMistakes {
    let mutant: Mutant?
    /// The last preview of each element.
    private var last: [Identifier: Preview] = [:]

    init(mutant: Mutant?) { self.mutant = mutant }

    /// What leaves instead of a preview.
    mutating func altered(_ preview: Preview) -> Preview {
        defer { self.last[preview.element] = preview }
        guard let last = self.last[preview.element], last.delta == nil, preview.delta == nil else { return preview }
        let isOneHand = last.connection == preview.connection && last.gesture == preview.gesture
        var altered = preview
        switch self.mutant {
        case .previewsInPart where isOneHand:
            for (field, value) in preview.fields.set where last.fields[field] == value { altered.fields[field] = nil }
            return altered.fields.isEmpty ? preview : altered
        case .foreignValues where !isOneHand:
            altered.fields = last.fields
            altered.fields.merge(preview.fields)
            return altered
        default: return preview
        }
    }
}
