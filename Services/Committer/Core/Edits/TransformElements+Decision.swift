import Canvas
import Wire

extension TransformElement: ElementChange {
    static let update = UpdateEvent.transformed

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.rules.apply(self.fields, to: &element)
    }

    func fields(sentTo element: Element, at index: Int) -> TransformFields { self.fields }
}

extension TransformElements: ElementChange {
    static let update = UpdateEvent.transformedMany

    static func path(ofElementAt index: Int) -> String { "elements[\(index)].elementId" }

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.rules.apply(self.items[index].fields, to: &element)
    }

    func fields(sentTo element: Element, at index: Int) -> TransformFields { self.items[index].fields }

    func start(ofElementAt index: Int) -> ByField<Double> { self.items[index].from }
}

extension GestureElement: ElementChange {
    static let update = UpdateEvent.transformed
    /// Moving the anchor of an annotation moves its position by pixels of its parent.
    static let needsParent = true

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.rules.apply(self.gesture, to: &element, parentSize: context.parentSize)
    }
}

extension GestureElements: ElementChange {
    static let update = UpdateEvent.transformedMany

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        guard element.space == .canvas else {
            throw Refusal(
                .invalid, "The pivot is on the canvas, and the element \(element.id) on its parent.",
                field: Self.path(ofElementAt: index))
        }
        return context.rules.apply(self.gesture, to: &element, pivot: self.pivot)
    }
}

extension PresetElement: ElementChange {
    static let update = UpdateEvent.transformed

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        context.rules.apply(self.preset.fields(on: element), to: &element)
    }

    func fields(sentTo element: Element, at index: Int) -> TransformFields { self.preset.fields(on: element) }
}

extension UpdateElement: ElementChange {
    static let update = UpdateEvent.updated
    var respectsLock: Bool { self.changes.respectsLock }

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        do {
            try self.changes.check(on: element, pictureBytes: context.pictureBytes)
        } catch { throw Refusal(error) }
        return context.rules.apply(self.changes, to: &element)
    }
}
