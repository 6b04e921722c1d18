import Canvas
import Wire

extension TransformElement: ElementChange {
    static let update = UpdateEvent.transformed
    static let respectsLock = true

    func apply(to element: inout Element, _ rules: RulesTable) throws(Refusal) -> [Adjustment] {
        rules.apply(self.fields, to: &element)
    }
}
