import Canvas
import Wire

extension PresetElement: ElementChange {
    static let update = UpdateEvent.transformed
    var respectsLock: Bool { true }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elementId" }

    func apply(
        to element: inout Element, at index: Int, parentSize: Size?, _ rules: RulesTable
    ) throws(Refusal) -> [Adjustment] {
        rules.apply(self.preset.fields(on: element), to: &element)
    }
}
