import Canvas
import Wire

extension TransformElement: ElementChange {
    static let update = UpdateEvent.transformed
    var respectsLock: Bool { true }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elementId" }

    func apply(
        to element: inout Element, at index: Int, parentSize: Size?, _ rules: RulesTable
    ) throws(Refusal) -> [Adjustment] {
        rules.apply(self.fields, to: &element)
    }
}

extension TransformElements: ElementChange {
    static let update = UpdateEvent.transformedMany
    var respectsLock: Bool { true }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elements[\(index)].elementId" }

    func apply(
        to element: inout Element, at index: Int, parentSize: Size?, _ rules: RulesTable
    ) throws(Refusal) -> [Adjustment] {
        rules.apply(self.items[index].fields, to: &element)
    }
}
