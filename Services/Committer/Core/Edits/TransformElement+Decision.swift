import Canvas
import Wire

extension TransformElement: ElementChange {
    static let update = UpdateEvent.transformed
    var respectsLock: Bool { true }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elementId" }

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.rules.apply(self.fields, to: &element)
    }

    func fields(sentTo element: Element, at index: Int) -> TransformFields { self.fields }
}

extension TransformElements: ElementChange {
    static let update = UpdateEvent.transformedMany
    var respectsLock: Bool { true }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elements[\(index)].elementId" }

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.rules.apply(self.items[index].fields, to: &element)
    }

    func fields(sentTo element: Element, at index: Int) -> TransformFields { self.items[index].fields }

    func start(ofElementAt index: Int) -> ByField<Double> { self.items[index].from }
}
