import Canvas
import JSONBytes
import Wire

/// The committer's half of a kind of edit.
protocol DecidableEdit: Edit, Decidable {}

/// A change that can be decided: the state it needs, and its decision.
protocol Decidable: Sendable {
    /// Calls `need` with each element whose state must be known.
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void)

    /// Whether it must be the first commit of its batch.
    var beginsBatch: Bool { get }

    /// Adds to `needs` what must be known before the edit can be decided and the cache lacks.
    func collect(
        for commit: inout PreparedCommit, rules: RulesTable, in cache: inout ShardCache, into needs: inout Needs)

    /// Decides the edit on the room's state in the batch so far. The cache contains everything it needs.
    /// - Returns: the change; one without entries is acknowledged without a number.
    /// - Throws: a refusal, which is final.
    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change
}

extension Decidable {
    var beginsBatch: Bool { false }

    func collect(
        for commit: inout PreparedCommit, rules: RulesTable, in cache: inout ShardCache, into needs: inout Needs
    ) {
        let room = commit.room
        self.forEachNeed { element, scope in
            _ = cache.collect(scope, ElementKey(room, element), into: &needs)
        }
    }
}

enum NeedScope {
    case element
    /// The element, and the parent of an annotation.
    case withParent
    /// The element, and the number of its living annotations.
    case annotated
    /// The element and its living children.
    case family
}

/// A value that was stored differently from what was sent.
struct Adjusted: Equatable, Sendable {
    /// The element's id in an edit of several; nil for an edit of one.
    var element: String?
    var adjustment: Adjustment
}

/// The effect of one commit, before it has a number. Acknowledgement, update and row of the log follow from the event's
/// shape.
struct Change {
    struct Entry {
        let key: ElementKey
        /// Its JSON text before; nil when it is created.
        let before: [UInt8]?
        /// The element to write; for a deletion its last state.
        var written: LiveElement
        let isDeleted: Bool
        /// True when it was deleted before: an undo brings it back.
        var isRestored = false
        /// True when it has another animation than before.
        var changesAnimation = false

        /// Its state afterwards.
        var after: ElementState { self.isDeleted ? .deleted(self.written.authors) : .live(self.written) }

        /// Its JSON text afterwards; empty when it is deleted.
        var json: [UInt8] { self.isDeleted ? [] : self.written.json }
    }

    let event: UpdateEvent
    /// The elements, in the order in which members receive them.
    var entries: [Entry]
    /// False when every element stays as it was, apart from its revision.
    var hasEffect = true
    /// The values that were stored differently from what was sent.
    var adjusted: [Adjusted] = []
    /// What an undo or a redo was made from; nil for an edit.
    var undone: Undone?

    /// ``adjusted`` as apps get it; nil when there is nothing.
    var adjustedText: [UInt8]? {
        if self.adjusted.isEmpty { return nil }
        var writer = JSONWriter()
        writer.beginArray()
        for adjusted in self.adjusted { adjusted.adjustment.encode(into: &writer, elementId: adjusted.element) }
        writer.endArray()
        return writer.bytes
    }
}

/// What an undo or a redo was made from.
struct Undone: Equatable {
    let direction: UndoDirection
    let entry: UndoneEntry
    let elements: [Identifier]
    /// The row beneath the entry's last one.
    let next: UInt64

    /// The entry in a refusal.
    var blocked: BlockedEntry {
        BlockedEntry(seq: self.entry.seq, event: self.entry.event, elements: self.elements)
    }
}

extension Change.Entry {
    /// An element that exists afterwards.
    init(
        _ key: ElementKey, before: [UInt8]?, _ element: Element, children: [Identifier]?, authors: RecentAuthors
    ) {
        let written = LiveElement(element, children: children, authors: authors)
        self.init(key: key, before: before, written: written, isDeleted: false)
    }

    init(deleting live: LiveElement, _ key: ElementKey) {
        self.init(key: key, before: live.json, written: live, isDeleted: true)
    }
}
