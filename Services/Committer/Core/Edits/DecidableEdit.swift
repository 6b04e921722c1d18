import Canvas
import Wire

/// The committer's half of a kind of edit: what must be known to decide it, and how it is decided.
protocol DecidableEdit: Edit {
    /// Calls `need` with each element that must be known.
    func forEachNeed(_ need: (Identifier, NeedScope) -> Void)

    /// Decides it on the room as the batch has it so far. Whatever it needs is in the cache.
    /// - Throws: a refusal, which is final.
    func decide(
        _ commit: PreparedCommit, in draft: inout BatchDraft, _ cache: inout ShardCache
    ) throws(Refusal) -> Change

    /// What the first decision stored otherwise than sent, found again from the log.
    /// - Parameters:
    ///   - before: the elements before it, as far as they existed.
    ///   - stored: the elements as it left them.
    func adjustments(
        before: [Element], stored: [UpdatedElement], by user: Identifier, _ rules: RulesTable
    ) -> [Adjusted]
}

/// How much must be known around an element.
enum NeedScope {
    /// The element.
    case element
    /// The element and the living ones that hang on it.
    case family
}

/// A value that was stored otherwise than sent.
struct Adjusted: Equatable, Sendable {
    /// Which element of several; nil for an edit of one.
    var element: String?
    /// What and why.
    var adjustment: Adjustment
}

/// What one commit does, before it has a number. Acknowledgement, update and row of the log follow from the event's
/// shape.
struct Change {
    /// One element that it writes.
    struct Entry {
        let key: ElementKey
        /// Its JSON text before; nil when it is created.
        let before: [UInt8]?
        /// What is written: for a deleted element its last state.
        var written: LiveElement
        /// Whether it is deleted.
        let isDeleted: Bool

        /// What is known of it afterwards.
        var after: ElementState { self.isDeleted ? .deleted : .live(self.written) }

        /// Its JSON text afterwards; empty when it is deleted.
        var json: [UInt8] { self.isDeleted ? [] : self.written.json }
    }

    /// The event that members receive.
    let event: UpdateEvent
    /// The elements, in the order in which members receive them.
    var entries: [Entry]
    /// What was stored otherwise than sent.
    var adjusted: [Adjusted] = []
}

extension Change.Entry {
    /// An element that lives afterwards.
    init(_ key: ElementKey, before: [UInt8]?, _ element: Element, children: [Identifier]?) {
        self.init(key: key, before: before, written: LiveElement(element, children: children), isDeleted: false)
    }

    /// An element that is deleted.
    init(deleting live: LiveElement, _ key: ElementKey) {
        self.init(key: key, before: live.json, written: live, isDeleted: true)
    }
}
