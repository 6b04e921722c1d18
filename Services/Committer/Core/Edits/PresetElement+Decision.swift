import Canvas
import Wire

extension PresetElement: ElementChange {
    static let update = UpdateEvent.transformed
    var respectsLock: Bool { true }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elementId" }

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.rules.apply(self.preset.fields(on: element), to: &element)
    }

    func fields(sentTo element: Element, at index: Int) -> TransformFields { self.preset.fields(on: element) }
}
