package import Wire

/// What a back end wants changed in a room, over HTTP: one or more commits of a session of its own. The same
/// `Idempotency-Key` names the same session, so that a repeated request finds its results.
package struct CommitRequest: Equatable, Sendable {
    /// What the body is.
    package enum Form: Equatable, Sendable {
        /// An element, or `{"elements": […]}`.
        case creation
        /// `{"event": …, "data": …}`, or `{"commits": […]}`.
        case commits
    }

    let room: String
    let form: Form
    let body: [UInt8]
    /// The session's name: made from the user and the key, or random without one.
    let session: Identifier
    /// The trace of which the request is a part.
    let parent: TraceParent?

    package init(room: String, form: Form, body: [UInt8], session: Identifier, parent: TraceParent? = nil) {
        self.room = room
        self.form = form
        self.body = body
        self.session = session
        self.parent = parent
    }

    /// The most commits of a request.
    static let largest = 100

    /// Whether it may contain edits of a kind. A back end has no undo: what it does is on nobody's stack.
    package static func allows(_ kind: EditKind) -> Bool {
        ![UndoEdit.traits.tag, RedoEdit.traits.tag].contains(kind.traits.tag)
    }
}

/// The edits of a ``CommitRequest`` in their order. One that cannot be read is the refusal at which they stop.
struct RequestedEdits {
    /// How they are answered.
    enum Answer {
        /// As one acknowledgement, with this status when it was applied.
        case single(status: Int)
        /// As a list of acknowledgements.
        case list
    }

    let edits: [Result<EncodedEdit, Refusal>]
    let answer: Answer
}
