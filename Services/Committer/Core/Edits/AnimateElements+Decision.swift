import Canvas
import Wire

extension AnimateElement: ElementChange {
    static let update = UpdateEvent.updated

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        try context.animate(&element, by: self.animation)
        return []
    }
}

extension AnimateElements: ElementChange {
    static let update = UpdateEvent.updatedMany

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        var animation = self.animation
        animation?.delayMs += Double(index) * self.staggerMs
        try context.animate(&element, by: animation)
        return []
    }
}

extension EditContext {
    /// Gives an element an animation that starts now, or takes its own.
    fileprivate func animate(_ element: inout Element, by animation: KeyframeAnimation?) throws(Refusal) {
        if let animation { try self.rules.check(animation, on: element, field: "animation") }
        element.animation = animation
        element.animation?.startedAt = self.time
    }
}
