internal import Canvas

/// An update of a room, with what it changed.
struct TailUpdate: Sendable {
    /// What became of one element.
    struct Change: Sendable {
        var id: String
        /// As it was; nil if it was created, or is not known.
        var before: Element?
        /// As it is; nil if it was deleted.
        var after: Element?
    }

    var seq: Int64
    var event: String
    var userId: String
    /// `undo` or `redo`, if it was one.
    var cause: String?
    var changes: [Change]
}

/// Where somebody moves an element at present.
struct TailPreview: Equatable, Sendable {
    var elementId: String
    var userId: String
    /// Only what changes.
    var fields: TransformFields
}
