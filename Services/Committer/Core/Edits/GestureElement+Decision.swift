import Canvas
import Wire

extension GestureElement: ElementChange {
    static let update = UpdateEvent.transformed
    var respectsLock: Bool { true }
    /// Moving the anchor of an annotation moves its position by pixels of its parent.
    static let needsParent = true

    static func path(ofElementAt index: Int) -> String { "elementId" }

    func apply(to element: inout Element, at index: Int, _ scene: EditScene) throws(Refusal) -> [Adjustment] {
        scene.rules.apply(self.gesture, to: &element, parentSize: scene.parentSize)
    }
}

extension GestureElements: ElementChange {
    static let update = UpdateEvent.transformedMany
    var respectsLock: Bool { true }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elements[\(index)]" }

    func apply(to element: inout Element, at index: Int, _ scene: EditScene) throws(Refusal) -> [Adjustment] {
        guard element.space == .canvas else {
            throw Refusal(
                .invalid, "The pivot is on the canvas, and the element \(element.id) on its parent.",
                field: Self.path(ofElementAt: index))
        }
        return scene.rules.apply(self.gesture, to: &element, pivot: self.pivot)
    }
}
