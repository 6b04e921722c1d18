import Canvas
import Wire

/// An edit that changes one existing element.
protocol ElementChange: DecidableEdit {
    /// The event that members receive.
    static var update: UpdateEvent { get }

    /// Whether a locked element refuses it.
    static var respectsLock: Bool { get }

    /// The element.
    var element: Identifier { get }

    /// Changes the element, within the rules of its type.
    /// - Returns: the values that are stored differently from what was sent.
    /// - Throws: a refusal, which is final.
    func apply(to element: inout Element, _ rules: RulesTable) throws(Refusal) -> [Adjustment]
}

extension ElementChange {
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        need(self.element, .element)
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        let key = ElementKey(commit.room, self.element)
        let live = try draft.living(key, &cache)
        if Self.respectsLock { try live.refuseIfLocked() }
        var element = live.element
        let adjustments = try self.apply(to: &element, draft.rules)
        element.recordChange(by: commit.user.text)
        return Change(
            event: Self.update,
            entries: [Change.Entry(key, before: live.json, element, children: live.children)],
            adjusted: adjustments.map { Adjusted(adjustment: $0) })
    }

    func adjustments(
        before: [Element], stored: [UpdatedElement], by user: Identifier, _ rules: RulesTable
    ) -> [Adjusted] {
        guard var element = before.first, let adjustments = try? self.apply(to: &element, rules) else { return [] }
        return adjustments.map { Adjusted(adjustment: $0) }
    }
}

extension BatchDraft {
    /// The existing element of a commit.
    /// - Throws: a refusal when it does not exist.
    mutating func living(_ key: ElementKey, _ cache: inout ShardCache) throws(Refusal) -> LiveElement {
        switch self.state(key, &cache) {
        case .live(let live): return live
        case .deleted: throw Refusal(.gone, "The element was deleted.", field: "elementId")
        case .absent: throw Refusal(.notFound, "There is no such element.", field: "elementId")
        }
    }
}

extension LiveElement {
    /// - Throws: a refusal when the element is locked.
    func refuseIfLocked() throws(Refusal) {
        if self.element.locked { throw Refusal(.forbidden, "The element is locked.", field: "locked") }
    }
}
