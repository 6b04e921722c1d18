import Canvas
import Wire

extension UpdateElement: ElementChange {
    static let update = UpdateEvent.updated
    var respectsLock: Bool { self.changes.respectsLock }
    static let needsParent = false

    static func path(ofElementAt index: Int) -> String { "elementId" }

    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment] {
        do { try element.check(self.changes) } catch { throw Refusal(error) }
        return context.rules.apply(self.changes, to: &element)
    }
}
