package import Wire

/// What an app asks for over HTTP.
package enum AppRequest: Sendable {
    /// `GET /api/rooms/{roomId}`: a room as it is.
    case room(String)
    /// `GET /api/rooms/{roomId}/history`: a page of a room's history. The query's parameters of these names; nil when it
    /// has none.
    case history(of: String, after: String?, limit: String?)
    /// `POST /api/rooms/{roomId}/elements`: creates one or several elements as one numbered commit of a session of its
    /// own, so that the same `Idempotency-Key` finds the first result again.
    /// - session: the session's name: made from the user and the key, or random without one.
    /// - parent: the trace of which the request is a part.
    case creation(in: String, body: [UInt8], session: Identifier, parent: TraceParent? = nil)

    /// Whether it asks a fan-out. Such an answer counts for its user until the client has read it.
    package var isRead: Bool {
        switch self {
        case .room, .history: true
        case .creation: false
        }
    }
}
