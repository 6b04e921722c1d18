package import Wire

/// What an app asks for over HTTP.
package enum AppRequest: Sendable {
    /// `GET /api/rooms/{roomId}`: a room as it is.
    case room(String)
    /// `GET /api/rooms/{roomId}/history`: a page of a room's history. The query's parameters of these names; nil when it
    /// has none.
    case history(of: String, after: String?, limit: String?)
    /// `POST /api/rooms/{roomId}/elements` and `…/commits`.
    case commits(CommitRequest)

    /// Whether it asks a fan-out. Such an answer counts for its user until the client has read it.
    package var isRead: Bool {
        switch self {
        case .room, .history: true
        case .commits: false
        }
    }
}

/// The parameters of `GET /api/rooms/{roomId}/history`.
struct HistoryParameters: Equatable {
    /// The page begins behind this number.
    let after: UInt64
    /// The most entries of the page.
    let limit: UInt16

    private static let defaultLimit: UInt16 = 50
    private static let limits: ClosedRange<UInt64> = 1...200
    /// The largest whole number that every JSON reader keeps exactly: 2^53 − 1.
    private static let numbers: ClosedRange<UInt64> = 0...((1 << 53) - 1)

    /// Reads them from the query.
    /// - Throws: a refusal that names the parameter at fault.
    init(after: String?, limit: String?) throws(Refusal) {
        self.after = try Self.number(after, "after", in: Self.numbers) ?? 0
        self.limit = try Self.number(limit, "limit", in: Self.limits).map(UInt16.init) ?? Self.defaultLimit
    }

    private static func number(
        _ text: String?, _ name: String, in range: ClosedRange<UInt64>
    ) throws(Refusal) -> UInt64? {
        guard let text else { return nil }
        // Digits only: the initialiser would accept a sign as well.
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = UInt64(text), range.contains(number)
        else {
            let bounds = "\(range.lowerBound) to \(range.upperBound)"
            throw Refusal(.invalid, "The parameter \(name) is a whole number from \(bounds).", field: name)
        }
        return number
    }
}

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
