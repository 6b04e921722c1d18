import Canvas
import Wire

extension HaltElement: ElementChange {
    static let update = UpdateEvent.transformed

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.stop(&element, self.halt)
    }
}

extension HaltElements: ElementChange {
    static let update = UpdateEvent.transformedMany

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.stop(&element, self.halt)
    }
}

extension EditContext {
    /// How long ago what is stopped may have been seen, ms.
    private static let longestDelay = 1000.0

    /// Stores the element where it shows, by the rules of a transform, and ends what moved it there.
    fileprivate func stop(_ element: inout Element, _ halt: Halt) -> [Adjustment] {
        let time = min(max(halt.time ?? self.time, self.time - Self.longestDelay), self.time)
        let moving = element.playback.fields(at: time).filter { halt.fields?.contains($0) ?? true }
        var shown = TransformFields()
        for field in moving { shown[field] = element.shown(field, at: time) }
        element.playback.endTracks(of: moving)
        return self.rules.apply(shown, to: &element)
    }
}
