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
