import Canvas
import Wire

/// The existing elements that a commit changes: one, or a group, all or none.
struct Alteration {
    private(set) var change: Change
    private let commit: PreparedCommit
    private let time: Double
    private let mark: ChangeMark

    /// An element that is to be changed.
    struct Subject {
        let key: ElementKey
        let live: LiveElement
        /// The element without what ended long ago.
        let former: Element
    }

    init(_ event: UpdateEvent, by commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache) {
        self.change = Change(event: event, entries: [])
        self.change.hasEffect = false
        self.commit = commit
        self.time = draft.time
        self.mark = draft.mark(of: commit, &cache)
    }

    /// The element of an id.
    /// - Parameter field: the place of the id in the app's payload.
    /// - Throws: a refusal when it does not exist, or is locked and the edit respects that.
    func subject(
        _ id: Identifier, field: @autoclosure () -> String, respectsLock: Bool, in draft: inout BatchDraft,
        _ cache: inout ShardCache
    ) throws(Refusal) -> Subject {
        let key = ElementKey(self.commit.room, id)
        let live = try draft.living(key, &cache, field: field())
        if respectsLock { try live.refuseIfLocked() }
        var former = live.element
        // Members that hear of animations alone would keep a motion that is left out.
        if former.moves, self.change.event.shape != .animations { former.leaveOutEnded(at: self.time) }
        return Subject(key: key, live: live, former: former)
    }

    /// Adds an element as it becomes.
    mutating func add(_ subject: Subject, as element: Element, adjusted: [Adjustment]) {
        var element = element
        if element != subject.former { self.change.hasEffect = true }
        element.recordChange(by: self.commit.user.text)
        var entry = Change.Entry(
            subject.key, before: subject.live.json, element, children: subject.live.children,
            authors: subject.live.authors.followed(by: self.mark))
        entry.changesAnimation = element.animation != subject.live.element.animation
        self.change.entries.append(entry)
        if adjusted.isEmpty { return }
        // In a group, adjustments name their element.
        let id = self.change.event.shape.isSingle ? nil : element.id
        self.change.adjusted += adjusted.map { Adjusted(element: id, adjustment: $0) }
    }
}
