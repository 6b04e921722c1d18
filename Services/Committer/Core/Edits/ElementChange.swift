import Canvas
import Wire

/// An edit that changes existing elements: one, or a group, all or none.
protocol ElementChange: DecidableEdit {
    static var update: UpdateEvent { get }

    /// Whether a locked element refuses it.
    var respectsLock: Bool { get }

    /// Whether the result depends on the size of an annotation's parent.
    static var needsParent: Bool { get }

    /// The place of an element's id in the app's payload, for refusals.
    static func path(ofElementAt index: Int) -> String

    /// Changes the element at an index of ``elements``, within the rules of its type.
    /// - Returns: the values that are stored differently from what was sent.
    /// - Throws: a refusal, which is final.
    func apply(to element: inout Element, at index: Int, _ context: EditContext) throws(Refusal) -> [Adjustment]

    /// The fields that it sends for the element at an index, whether their values change or not: they get the motion.
    func fields(sentTo element: Element, at index: Int) -> TransformFields

    /// Where a hand let go of the element at an index.
    func start(ofElementAt index: Int) -> ByField<Double>
}

/// In what an edit is applied to an element.
struct EditContext {
    let rules: RulesTable
    /// ms since 1970 by the host's clock.
    let time: Double
    /// The maximum length of a picture that it sets.
    let pictureBytes: Int
    /// The original size of an annotation's parent, if it is needed and known.
    var parentSize: Size?
}

extension ElementChange {
    var respectsLock: Bool { true }
    static var needsParent: Bool { false }
    static func path(ofElementAt index: Int) -> String { Self.traits.isGroup ? "elements[\(index)]" : "elementId" }
    func fields(sentTo element: Element, at index: Int) -> TransformFields { TransformFields() }
    func start(ofElementAt index: Int) -> ByField<Double> { ByField() }

    func forEachNeed(_ need: (Identifier, NeedScope) -> Void) {
        for element in self.elements { need(element, Self.needsParent ? .withParent : .element) }
    }

    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change {
        let elements = self.elements
        if !Self.update.shape.isSingle { try draft.checkGroup(elements.count) }
        var alteration = Alteration(Self.update, by: commit, in: &draft, &cache)
        for index in elements.indices {
            let subject = try alteration.subject(
                elements[index], field: Self.path(ofElementAt: index), respectsLock: self.respectsLock, in: &draft,
                &cache)
            var context = EditContext(rules: draft.rules, time: draft.time, pictureBytes: draft.limits.pictureBytes)
            if Self.needsParent { context.parentSize = draft.parentSize(of: subject.former, in: commit.room, &cache) }
            var element = subject.former
            var adjusted = try self.apply(to: &element, at: index, context)
            element.endTracks(changedFrom: subject.former)
            if var motion = commit.edit.motion {
                motion.from.merge(self.start(ofElementAt: index))
                let sent = self.fields(sentTo: subject.former, at: index)
                adjusted += draft.rules.begin(motion, of: &element, from: subject.former, sent: sent, at: draft.time)
            }
            alteration.add(subject, as: element, adjusted: adjusted)
        }
        return alteration.change
    }
}

extension BatchDraft {
    /// The existing element of a commit.
    /// - Parameter field: the place of its id in the app's payload.
    /// - Throws: a refusal when it does not exist.
    mutating func living(
        _ key: ElementKey, _ cache: inout ShardCache, field: @autoclosure () -> String
    ) throws(Refusal) -> LiveElement {
        switch self.state(key, &cache) {
        case .live(let live): return live
        case .deleted: throw Refusal(.gone, "The element was deleted.", field: field())
        case .absent: throw Refusal(.notFound, "There is no such element.", field: field())
        }
    }

    /// The original size of an annotation's parent; nil for other elements.
    mutating func parentSize(of element: Element, in room: Identifier, _ cache: inout ShardCache) -> Size? {
        guard let parent = element.parentId,
            case .live(let live) = self.state(ElementKey(room, Identifier(parent)), &cache)
        else { return nil }
        return Size(width: live.element.originalWidth, height: live.element.originalHeight)
    }
}

extension LiveElement {
    /// - Throws: a refusal when the element is locked.
    func refuseIfLocked() throws(Refusal) {
        if self.element.locked { throw .locked(Identifier(self.element.id)) }
    }
}

extension Refusal {
    /// The refusal of what an element's lock forbids.
    static func locked(_ element: Identifier) -> Refusal {
        Refusal(.forbidden, "The element \(element) is locked.", field: "locked")
    }
}
