package import Canvas

/// An update of a room, with what it changed.
package struct TailUpdate: Sendable {
    /// What became of one element.
    package struct Change: Sendable {
        package var id: String
        /// As it was; nil if it was created, or is not known.
        package var before: Element?
        /// As it is; nil if it was deleted.
        package var after: Element?

        package init(id: String, before: Element?, after: Element?) {
            self.id = id
            self.before = before
            self.after = after
        }
    }

    package var seq: Int64
    package var event: String
    package var userId: String
    /// `undo` or `redo`, if it was one.
    package var cause: String?
    package var changes: [Change]

    package init(seq: Int64, event: String, userId: String, cause: String?, changes: [Change]) {
        self.seq = seq
        self.event = event
        self.userId = userId
        self.cause = cause
        self.changes = changes
    }
}

/// Where somebody moves an element at present.
package struct TailPreview: Equatable, Sendable {
    package var elementId: String
    package var userId: String
    /// Only what changes.
    package var fields: TransformFields
}
