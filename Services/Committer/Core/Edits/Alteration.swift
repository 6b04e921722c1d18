import Canvas
import Wire

/// The existing elements that a commit changes: one, or a group, all or none.
struct Alteration {
    private(set) var change: Change
    private let commit: PreparedCommit
    private let time: Double
    private let mark: ChangeMark

    struct Subject {
        let key: ElementKey
        let live: LiveElement
        /// The same without what ended long ago.
        private let cleaned: LiveElement

        init(key: ElementKey, _ live: LiveElement, leavingOutEndedAt time: Double?) {
            self.key = key
            self.live = live
            guard let time, !live.element.playback.isEmpty else {
                self.cleaned = live
                return
            }
            var former = live.element
            former.playback.leaveOutEnded(at: time)
            self.cleaned = LiveElement(
                element: former, json: live.json, children: live.children, authors: live.authors)
        }

        /// The element before the change, without what ended long ago.
        var former: Element { _read { yield self.cleaned.element } }
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
        // Members that hear of animations alone would keep a motion that is left out.
        let isWhole = self.change.event.shape != .animations
        return Subject(key: key, live, leavingOutEndedAt: isWhole ? self.time : nil)
    }

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
