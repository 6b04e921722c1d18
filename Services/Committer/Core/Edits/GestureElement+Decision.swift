import Canvas
import Wire

extension GestureElement: ElementChange {
    static let update = UpdateEvent.transformed
    var respectsLock: Bool { true }
    /// Moving the anchor of an annotation moves its position by pixels of its parent.
    static let needsParent = true

    static func path(ofElementAt index: Int) -> String { "elementId" }

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.rules.apply(self.gesture, to: &element, parentSize: context.parentSize)
    }
}

extension GestureElements: ElementChange {
    static let update = UpdateEvent.transformedMany
    var respectsLock: Bool { true }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elements[\(index)]" }

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        guard element.space == .canvas else {
            throw Refusal(
                .invalid, "The pivot is on the canvas, and the element \(element.id) on its parent.",
                field: Self.path(ofElementAt: index))
        }
        return context.rules.apply(self.gesture, to: &element, pivot: self.pivot)
    }
}
